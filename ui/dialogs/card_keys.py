"""The keys that cards know while the keyboard is in them, for the shortcut sheet."""

CARD_KEYS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "In the list of sessions",
        (
            ("Enter", "Open what is selected; several are compared"),
            ("F2", "Rename"),
            ("Shift+F2", "Tags"),
            ("Del", "Delete; Undo brings back"),
            ("Ctrl+F", "Search"),
        ),
    ),
    (
        "In a plot",
        (
            ("Home", "Show all; so does a double click"),
            ("Ctrl+C", "Copy the figures as CSV"),
            ("End", "Follow the newest steps, in the timeline"),
            ("Arrows", "From block to block, in a cache"),
        ),
    ),
    (
        "In a text",
        (
            ("Left, Right", "From token to token"),
            ("Home, End", "To the beginning; follow the end"),
            ("Ctrl+A, Ctrl+C", "Select all, copy"),
        ),
    ),
)
"""Groups of (keys, what they do)."""
