"""Questions for learning platforms: Moodle's XML, and IMS QTI 2.1 as a content package."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from raidlab.notebooks.course.bank import Question
from raidlab.scenarios.results.number_text import digits

_QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
_PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"


def _number(value: float) -> str:
    return digits(value).replace(",", "")


def moodle(questions: Sequence[Question]) -> str:
    """A file that Moodle imports as numerical questions, in a category for each lesson."""
    rows = ['<?xml version="1.0" encoding="UTF-8"?>', "<quiz>"]
    lesson = 0
    for each in sorted(questions, key=lambda each: each.lesson):
        if each.lesson != lesson:
            lesson = each.lesson
            rows += [
                '<question type="category"><category>',
                f"<text>$course$/raidlab/Lesson {lesson}</text></category></question>",
            ]
        unit = f" Answer in {each.unit}." if each.unit else ""
        rows += [
            '<question type="numerical">',
            f"<name><text>{escape(each.title)}</text></name>",
            '<questiontext format="plain_text"><text>' + escape(each.text + unit) + "</text>",
            "</questiontext>",
            f'<generalfeedback format="plain_text"><text>{escape(each.why)}</text>',
            "</generalfeedback>",
            f'<answer fraction="100"><text>{_number(each.closed)}</text>',
            f"<tolerance>{abs(each.closed) * each.tolerance:.4g}</tolerance></answer>",
            "</question>",
        ]
    return "\n".join([*rows, "</quiz>", ""])


def item(question: Question) -> str:
    """One assessment item of QTI 2.1 with a field for a number."""
    percent = f"{100 * question.tolerance:g}"
    name, title = quoteattr(question.name), quoteattr(question.title)
    unit = escape(question.unit)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<assessmentItem xmlns="{_QTI}" identifier={name} title={title}
adaptive="false" timeDependent="false">
<responseDeclaration identifier="RESPONSE" cardinality="single" baseType="float">
<correctResponse><value>{_number(question.closed)}</value></correctResponse>
</responseDeclaration>
<outcomeDeclaration identifier="SCORE" cardinality="single" baseType="float"/>
<outcomeDeclaration identifier="FEEDBACK" cardinality="single" baseType="identifier"/>
<itemBody><p>{escape(question.text)}</p>
<p><textEntryInteraction responseIdentifier="RESPONSE" expectedLength="12"/> {unit}</p></itemBody>
<responseProcessing><responseCondition><responseIf>
<equal toleranceMode="relative" tolerance="{percent} {percent}">
<variable identifier="RESPONSE"/><correct identifier="RESPONSE"/></equal>
<setOutcomeValue identifier="SCORE"><baseValue baseType="float">1</baseValue></setOutcomeValue>
</responseIf></responseCondition>
<setOutcomeValue identifier="FEEDBACK">
<baseValue baseType="identifier">why</baseValue></setOutcomeValue>
</responseProcessing>
<modalFeedback outcomeIdentifier="FEEDBACK" identifier="why" showHide="show">
{escape(question.why)}</modalFeedback>
</assessmentItem>
"""


def qti(questions: Sequence[Question]) -> bytes:
    """A content package with an item for each question; the same questions give the same bytes."""
    resources = "".join(
        f'<resource identifier="{each.name}" type="imsqti_item_xmlv2p1" href="{each.name}.xml">'
        f'<file href="{each.name}.xml"/></resource>\n'
        for each in questions
    )
    manifest = f"""<?xml version="1.0" encoding="UTF-8"?>
<manifest xmlns="{_PACKAGE}" identifier="raidlab">
<metadata><schema>QTIv2.1 Package</schema><schemaversion>1.0.0</schemaversion></metadata>
<organizations/>
<resources>
{resources}</resources>
</manifest>
"""
    made = io.BytesIO()
    files = {"imsmanifest.xml": manifest} | {f"{each.name}.xml": item(each) for each in questions}
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), text)
    return made.getvalue()
