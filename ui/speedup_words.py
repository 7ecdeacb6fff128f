"""Three figures are called a speed-up; each says which one it is, and how the others differ."""

THE_OTHERS = (
    "Three speed-ups are told apart. Measured: baseline ns per token / ns per token, the geometric "
    "mean over prompts. Predicted: E[N] / (gamma c + v), the models' forwards alone. Of mean steps "
    "(Why not faster, S(gamma), the tile without a baseline): tokens a step x plain step / this "
    "run's mean step, the plain step being the baseline's or a bare target forward as calibrated."
)
