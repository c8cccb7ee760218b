#!/usr/bin/env python3
"""The transcript runner accepts what matches and, above all, refuses what does not."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).with_name("run_transcripts.py")


def passes(text):
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "x.test")
        path.write_text(text)
        return subprocess.run([sys.executable, RUNNER, "/bin/true", path], capture_output=True).returncode == 0


class Runner(unittest.TestCase):
    def test_accepts_literal_regex_and_any_lines(self):
        self.assertTrue(passes("# prose\n$ printf 'a\\nb1\\n\\nc\\nd\\n'\na\n~ b[0-9]\n~\n...\nd\n"))

    def test_accepts_error_output_and_exit_code(self):
        self.assertTrue(passes("$ echo oops >&2; exit 3\n! oops\n[3]\n"))

    def test_joins_continued_lines(self):
        self.assertTrue(passes("$ echo a \\\n> b\na b\n"))

    def test_refuses_another_line(self):
        self.assertFalse(passes("$ echo a\nb\n"))

    def test_refuses_lines_that_nobody_expected(self):
        self.assertFalse(passes("$ echo a\n"))
        self.assertFalse(passes("$ echo a >&2\n"))

    def test_refuses_a_regex_that_matches_only_a_part(self):
        self.assertFalse(passes("$ echo abc\n~ b\n"))

    def test_refuses_another_exit_code(self):
        self.assertFalse(passes("$ exit 2\n"))
        self.assertFalse(passes("$ true\n[2]\n"))

    def test_refuses_a_missing_line(self):
        self.assertFalse(passes("$ true\na\n"))

    def test_sees_failures_inside_pipes(self):
        self.assertFalse(passes("$ false | cat\n"))

    def test_refuses_an_empty_transcript(self):
        self.assertFalse(passes("# nothing\n"))

    def test_skips_what_is_not_there(self):
        self.assertTrue(passes("@needs no-such-program\n$ false\n\n$ true\n"))


if __name__ == "__main__":
    unittest.main()
