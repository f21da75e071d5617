"""The page of a document as PDF, through ReportLab (the extra ``pdf``).

Invariant: Chinese is written with a font that is embedded where the machine has one that can be, and otherwise with
STSong-Light, which every viewer with Chinese brings (see docs/adr/0013). Texts of the shop are never markup.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from .sheet import Sheet

FONT_VARIABLE = "ERPILOT_PDF_FONT"
"""A TrueType font with Chinese to be used, as a path."""
_FONTS = (
    "C:/Windows/Fonts/msyh.ttc",
    "C:/Windows/Fonts/simhei.ttf",
    "C:/Windows/Fonts/simsun.ttc",
    "/System/Library/Fonts/STHeiti Light.ttc",
    "/System/Library/Fonts/Supplemental/Arial Unicode.ttf",
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc",
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
    "/usr/share/fonts/wqy-microhei/wqy-microhei.ttc",
    "/usr/share/fonts/wqy-zenhei/wqy-zenhei.ttc",
)
_NOT_EMBEDDED = "STSong-Light"


def available() -> bool:
    """Whether the extra is installed."""
    try:
        import reportlab  # noqa: F401
    except ImportError:
        return False
    return True


@cache
def font() -> str:
    """The name of the font, registered: an embedded one, if there is one that can be."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfbase.ttfonts import TTFError, TTFont

    for path in _candidates():
        try:
            pdfmetrics.registerFont(TTFont("erpilot", str(path)))
            return "erpilot"
        except (TTFError, OSError, ValueError):  # one with PostScript outlines cannot be embedded
            continue
    pdfmetrics.registerFont(UnicodeCIDFont(_NOT_EMBEDDED))
    return _NOT_EMBEDDED


def _candidates() -> Iterator[Path]:
    if chosen := os.environ.get(FONT_VARIABLE, "").strip():
        yield Path(chosen)
    for name in _FONTS:
        if (path := Path(name)).is_file():
            yield path


def pdf(sheet: Sheet) -> bytes:
    """The document, A4, with the headings of its table on every page."""
    from reportlab.lib import colors
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.lib.units import mm
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

    name = font()
    plain = ParagraphStyle("plain", fontName=name, fontSize=9.5, leading=13, wordWrap="CJK")
    right = ParagraphStyle("right", parent=plain, alignment=2)
    large = ParagraphStyle("large", parent=plain, fontSize=18, leading=24)
    red = ParagraphStyle("red", parent=plain, textColor=colors.HexColor("#b00020"))

    def text(value: str, style: Any = plain) -> Any:
        return Paragraph(escape(value), style)

    def row(cells: tuple[str, ...]) -> list[Any]:
        return [text(cell, right if place in sheet.right else plain) for place, cell in enumerate(cells)]

    width = A4[0] - 36 * mm - 12  # the frame keeps 6 points free on each side
    lines = Table([row(sheet.head), *map(row, sheet.rows)], colWidths=_widths(sheet, width), repeatRows=1, splitInRow=1)
    lines.setStyle(
        TableStyle(
            [
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("LINEBELOW", (0, 0), (-1, 0), 0.8, colors.black),
                ("LINEBELOW", (0, 1), (-1, -1), 0.25, colors.lightgrey),
                ("LEFTPADDING", (0, 0), (-1, -1), 2),
                ("RIGHTPADDING", (0, 0), (-1, -1), 2),
            ]
        )
    )
    facts = Table([[text(label), text(value)] for label, value in sheet.facts], colWidths=[28 * mm, width - 28 * mm])
    facts.setStyle(TableStyle([("LEFTPADDING", (0, 0), (-1, -1), 0), ("BOTTOMPADDING", (0, 0), (-1, -1), 0)]))
    sums = Table(
        [[text(label, right), text(value, right)] for label, value in sheet.sums], colWidths=[30 * mm, 45 * mm]
    )
    sums.hAlign = "RIGHT"
    sums.setStyle(TableStyle([("LINEBELOW", (0, -1), (-1, -1), 0.8, colors.black)]))
    story = [text(sheet.title, large), text(sheet.company), Spacer(1, 4 * mm)]
    story += [text(sheet.stamp, red)] if sheet.stamp else []
    story += [facts, Spacer(1, 4 * mm), lines, Spacer(1, 4 * mm), sums, Spacer(1, 4 * mm), text(sheet.terms)]
    story += [text(f"{sheet.note[0]}: {sheet.note[1]}")] if sheet.note else []
    out = io.BytesIO()
    margins = {"leftMargin": 18 * mm, "rightMargin": 18 * mm, "topMargin": 16 * mm, "bottomMargin": 18 * mm}
    title = f"{sheet.title} {sheet.number}"
    SimpleDocTemplate(out, pagesize=A4, title=title, author=sheet.company, **margins).build(
        story, onFirstPage=_numbered(name), onLaterPages=_numbered(name)
    )
    return out.getvalue()


def _numbered(name: str) -> Any:
    def draw(canvas: Any, document: Any) -> None:
        canvas.setFont(name, 8)
        canvas.drawCentredString(document.pagesize[0] / 2, 24, str(document.page))

    return draw


def _widths(sheet: Sheet, width: float) -> list[float]:
    """The name takes what the other columns leave."""
    wanted = [26.0, 76.0, 0.0, 46.0, 32.0, 58.0, *([42.0] if len(sheet.head) == 9 else []), 40.0, 68.0]
    wanted[2] = width - sum(wanted)
    return wanted
