"""What the table of a report leaves out is named on the page of its validation."""

from raidlab.calibration.published.figures import read_figures
from raidlab.calibration.published.gaps import in_words, unlisted
from raidlab.calibration.published.validate import Compared, Validation
from raidlab.calibration.report.published import markdown_validation, report

HEAD = (
    "source,id,controller,drive,format,count,level,raid_by,settings,load,outstanding,per,quantity,"
    "relation,value,high,baseline,note,ref\n"
)
ROW = "acme,acme-{:03},,generic-7200rpm,,1,single,,,database,1,system,iops,=,100,,,,page 1\n"


def test_numbers_between_the_first_and_the_last_are_found():
    ids = ["acme-004", "acme-001", "acme-008", "acme-009", "acme-011", "acme-x", "other-006"]
    assert unlisted("acme", ids) == [range(2, 4), range(5, 8), range(10, 11)]
    assert in_words("acme", ids) == (
        "Not in the table, so not compared: 6 figures, number 002 and 003, 005 to 007, 010."
    )
    assert in_words("acme", ["acme-1", "acme-2"]) == in_words("acme", []) == ""


def test_both_pages_name_them(tmp_path):
    path = tmp_path / "acme.csv"
    path.write_text(HEAD + "".join(ROW.format(number) for number in (1, 2, 5)))
    rows = tuple(
        Compared(figure, 100.0, "IO/s", 0.0, held=True, why_not=None)
        for figure in read_figures(path)
    )
    validation = Validation(rows, wall_s=1.0)
    said = "Not in the table, so not compared: 2 figures, number 003 and 004."
    assert said in markdown_validation(validation)
    assert said in report(validation).html()
