refused: IG502: Metal has no atomic update of i64 elements here
