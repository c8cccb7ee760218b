import shutil
import subprocess

from checker_case import ROOT, CheckerCase, unittest


class Format(CheckerCase):
    def run_on(self, text):
        self.write("a.cpp", text)
        shutil.copy(ROOT / ".clang-format", self.root)
        outcome = subprocess.run([ROOT / "tools" / "check_format.sh", self.root / "a.cpp"], capture_output=True, text=True)
        if outcome.returncode == 77:
            self.skipTest(outcome.stdout.strip())
        return outcome.returncode

    def test_formatted_file_is_fine(self):
        self.assertEqual(self.run_on("int f() { return 1; }\n"), 0)

    def test_unformatted_file_is_refused(self):
        self.assertEqual(self.run_on("int   f( ){return 1 ;}\n"), 1)


if __name__ == "__main__":
    unittest.main()
