"""Scripts that rebuild the bundled model pair from licensed text."""
