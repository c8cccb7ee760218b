from checker_case import CheckerCase, unittest
import check_words


class Words(CheckerCase):
    def problems(self, text):
        self.write("docs/a.md", text)
        return check_words.check(self.root)

    def test_ordinary_text_is_fine(self):
        self.assertEqual(self.problems("see src/sotto/core, ../shared/data, /usr/bin and mkstemp templates XXXXXX\n"), [])

    def test_machine_paths_are_refused(self):
        for folder in ("home", "root", "work", "Users"):
            self.assertEqual(len(self.problems(f"look in /{folder}/someone\n")), 1, folder)

    def test_markers_of_unfinished_work_are_refused(self):
        for word in ("TO" + "DO", "FIX" + "ME"):
            self.assertEqual(self.problems(f"one\n// {word} later\n"), [f"docs/a.md:2: a marker of unfinished work: {word}"])

    def test_registry_hosts_are_refused(self):
        for host in ("deb.debian." + "org", "pypi." + "org", "registry.npmjs." + "org"):
            self.assertEqual(len(self.problems(f"from {host}/x\n")), 1, host)

    def test_binary_files_are_passed_over(self):
        (self.root / "a.bin").write_bytes(b"\xff\xfe\x00")
        self.assertEqual(check_words.check(self.root), [])


if __name__ == "__main__":
    unittest.main()
