"""Three figures are called a speed-up; each says which one it is, and how the others differ."""

THE_OTHERS = (
    "Three speed-ups are told apart. Measured: baseline ns per token / ns per token, the geometric "
    "mean over prompts. Predicted: E[N] / (gamma c + v), the models' forwards alone. Of mean steps "
    "(Why not faster): tokens a step x baseline's mean step / this run's mean step."
)
