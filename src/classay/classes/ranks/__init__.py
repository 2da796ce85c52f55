"""The record of a label set: where the true class ranked among the others in every test row.

Read `ranks` first (the record, and how it is merged and saved). `counts` makes it from scores in one pass, `evidence`
is what the measures see of it, with exact averages over label sets and weights of classes. `scores` makes ranks from a
learner or from embeddings; it is loaded on demand, by `Ranks.from_learner` and `Ranks.from_embeddings`.
"""
