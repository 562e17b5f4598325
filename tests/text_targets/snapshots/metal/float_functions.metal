refused: IG501: Metal cannot compute in f64 here
