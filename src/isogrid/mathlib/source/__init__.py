"""Elementary functions in the kernel language. `tools/mathlib` compiles them; nothing imports them at run time.

Each function exists in two builds, the most used ones of f32 in three. The *pair* build carries an unevaluated sum of
two f64 through the computation, with an error below 2^-70: rounded once it is the f64 function, rounded to odd and then
to f32 it is the f32 function for every input whose exact value is not within 2^-70 of a rounding boundary. The *quick*
builds compute the f32 function with less work and a bound on their error; where the bound cannot tell how to round, the
pair build decides. The *tail* builds, in f32 alone, stand before these in the same way.
"""
