"""The tour of `make demo` with the built command: demo_test.py SOTTO"""
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

DEMO = pathlib.Path(__file__).resolve().parents[2] / "demo"
sys.path.insert(0, str(DEMO))
sys.dont_write_bytecode = True
import make_data  # noqa: E402

SOTTO = sys.argv[1] if len(sys.argv) > 1 else ""


class Demo(unittest.TestCase):
    def test_the_data_file_is_what_its_script_makes(self):
        out = io.StringIO(newline="")
        make_data.write(out)
        self.assertEqual(out.getvalue(), (DEMO / "clinic.csv").read_text(encoding="utf-8"))

    def test_the_tour_ends_well_and_leaves_its_report(self):
        with tempfile.TemporaryDirectory() as folder:
            outcome = subprocess.run([DEMO / "run.py", SOTTO, folder], capture_output=True, text=True)
            self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)
            report = pathlib.Path(folder, "report.md").read_text(encoding="utf-8")
            for words in ("mean age", "cardiology", "Together ε ≤", "Noise multiplier"):
                self.assertIn(words, report)
            # ε = 0.2 is noise of scale 5: being 500 off means that something is wrong.
            count = json.loads(pathlib.Path(folder, "count.json").read_text())
            self.assertLess(abs(count["value"] - make_data.ROWS), 500)

    def test_a_command_that_fails_fails_the_tour(self):
        with tempfile.TemporaryDirectory() as folder:
            outcome = subprocess.run([DEMO / "run.py", "/bin/false", folder], capture_output=True, text=True)
            self.assertNotEqual(outcome.returncode, 0)
            self.assertFalse(pathlib.Path(folder, "report.md").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
