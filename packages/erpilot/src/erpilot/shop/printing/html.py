"""The page of a document as HTML that stands alone: no script, nothing loaded, made for A4.

Invariant: every text of the shop is escaped.
"""

from __future__ import annotations

from html import escape

from .sheet import Sheet

_STYLE = """
@page { size: A4; margin: 16mm }
body { font: 10.5pt/1.5 "Noto Sans SC", "Microsoft YaHei", "PingFang SC", "Noto Sans CJK SC", sans-serif;
  color: #1b1b1b; max-width: 178mm; margin: 2em auto; padding: 0 1em }
header { display: flex; justify-content: space-between; align-items: baseline; border-bottom: 2px solid #1b1b1b }
h1 { font-size: 20pt; margin: 0 0 .2em } .company { font-size: 12pt }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1em 1em; margin: 1em 0 }
dt { color: #666 } dd { margin: 0 }
table { width: 100%; border-collapse: collapse } thead { display: table-header-group } tr { break-inside: avoid }
th, td { padding: .35em .5em; border-bottom: 1px solid #ccc; text-align: left; vertical-align: top;
  overflow-wrap: anywhere }
th { border-bottom: 1px solid #1b1b1b; color: #444; white-space: nowrap } .r { text-align: right; white-space: nowrap }
.sums { width: auto; margin: 1em 0 0 auto }
.sums tr:last-child td { font-weight: bold; border-bottom: 2px solid #1b1b1b }
.terms, .note { color: #444; margin-top: 1em; white-space: pre-wrap } .stamp { color: #b00020; font-weight: bold }
@media print { body { margin: 0; padding: 0; max-width: none } }
"""


def html(sheet: Sheet) -> str:
    """The whole page."""
    lang = "zh-CN" if sheet.language == "zh" else "en"
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in sheet.facts)
    head = "".join(_cell("th", text, place in sheet.right) for place, text in enumerate(sheet.head))
    rows = "".join(
        f"<tr>{''.join(_cell('td', text, place in sheet.right) for place, text in enumerate(row))}</tr>\n"
        for row in sheet.rows
    )
    sums = "".join(f"<tr><td>{escape(name)}</td>{_cell('td', value, True)}</tr>" for name, value in sheet.sums)
    note = f'<p class="note">{escape(sheet.note[0])}: {escape(sheet.note[1])}</p>' if sheet.note else ""
    stamp = f'<p class="stamp">{escape(sheet.stamp)}</p>' if sheet.stamp else ""
    return (
        f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(sheet.title)} {escape(sheet.number)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<header><h1>{escape(sheet.title)}</h1><span class="company">{escape(sheet.company)}</span></header>\n'
        f"{stamp}<dl>{facts}</dl>\n"
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table>\n"
        f'<table class="sums"><tbody>{sums}</tbody></table>\n'
        f'<p class="terms">{escape(sheet.terms)}</p>{note}\n</body>\n</html>\n'
    )


def _cell(tag: str, text: str, right: bool) -> str:
    return f"<{tag}{' class=r' if right else ''}>{escape(text)}</{tag}>"
