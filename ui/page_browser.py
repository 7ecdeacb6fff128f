"""A page of rich text in a card, which is written anew while it is read."""

from PySide6.QtWidgets import QFrame, QTextBrowser


class PageBrowser(QTextBrowser):
    """``name`` is what it is called to a person who does not see it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self._shown = ""

    def show_page(self, text: str) -> None:
        """Nothing where it is the same page, so that a selection in it stays; a new one is seen
        from where the old one was."""
        if text == self._shown:
            return
        self._shown = text
        bar = self.verticalScrollBar()
        place = bar.value()
        self.setHtml(text)
        bar.setValue(place)

    def forget(self) -> None:
        """The next page is shown even if it is the same: what it looks like has changed."""
        self._shown = ""
