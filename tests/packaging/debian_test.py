"""The Debian packages: debian_test.py BUILD. Builds both and looks inside, for the basics that lintian would ask for."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = sys.argv[1] if len(sys.argv) > 1 else ""


def run(*command):
    outcome = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout


class Debian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._folder.cleanup)
        folder = pathlib.Path(cls._folder.name)
        run("cpack", "--config", f"{BUILD}/CPackConfig.cmake", "-B", folder)
        cls.packages = {path.name.split("_")[0]: path for path in folder.glob("*.deb")}
        cls.tree = folder / "tree"
        for path in cls.packages.values():
            run("dpkg-deb", "-x", path, cls.tree)

    def control(self, name):
        return dict(re.findall(r"^([\w-]+): (.*)$", run("dpkg-deb", "-f", self.packages[name]), re.MULTILINE))

    def listing(self, name):
        lines = [line.split() for line in run("dpkg-deb", "-c", self.packages[name]).splitlines()]
        return [(line[0], line[1], line[5].lstrip(".")) for line in lines]

    def test_there_are_the_command_its_deep_half_and_the_library(self):
        self.assertLessEqual({"libsotto-dev", "sotto"}, set(self.packages))
        self.assertLessEqual(set(self.packages), {"libsotto-dev", "sotto", "sotto-deep"})

    def test_only_the_deep_half_needs_torch(self):
        self.assertNotIn("libtorch", self.control("sotto")["Depends"])
        if "sotto-deep" in self.packages:
            self.assertIn("libtorch", self.control("sotto-deep")["Depends"])

    def test_command_package_holds_the_command_and_its_documents(self):
        paths = {path for _, _, path in self.listing("sotto")}
        self.assertLessEqual({"/usr/bin/sotto", "/usr/share/doc/sotto/copyright"}, paths)
        self.assertFalse({path for path in paths if path.endswith((".hpp", ".a", ".cmake", ".pc"))})

    def test_development_package_holds_headers_archives_and_package_files(self):
        paths = {path for _, _, path in self.listing("libsotto-dev")}
        for wanted in ("/usr/include/sotto/core/event.hpp", "/usr/include/sotto/core/version.hpp"):
            self.assertIn(wanted, paths)
        for ending in ("/libsotto_core.a", "/cmake/sotto/sottoConfig.cmake", "/pkgconfig/sotto.pc"):
            self.assertTrue(any(path.endswith(ending) for path in paths), ending)
        self.assertFalse(any("gtest" in path or "_test" in path for path in paths))

    def test_everything_lies_under_usr_owned_by_root_and_writable_by_nobody_else(self):
        for name in self.packages:
            for mode, owner, path in self.listing(name):
                self.assertTrue(path == "/" or path.startswith("/usr/"), path)
                self.assertEqual(owner, "root/root", path)
                self.assertNotRegex(mode, "^.....w|^........w", path)
                if mode.startswith("-"):
                    self.assertEqual("x" in mode, path.startswith(("/usr/bin/", "/usr/libexec/")), path)

    def test_control_fields_are_complete(self):
        for name in self.packages:
            control = self.control(name)
            self.assertLessEqual({"Package", "Version", "Architecture", "Maintainer", "Description", "Section"}, set(control))
            self.assertRegex(control["Maintainer"], r"^.+ <\S+@\S+>$")
            self.assertLessEqual(len(control["Description"]), 80)
        self.assertIn("libc6", self.control("sotto")["Depends"])
        self.assertIn("libssl-dev", self.control("libsotto-dev")["Depends"])

    def test_command_is_stripped_and_has_no_run_path(self):
        program = self.tree / "usr/bin/sotto"
        sections = run("readelf", "-SdW", program)
        self.assertNotIn(".debug_info", sections)
        self.assertNotRegex(sections, "R(UN)?PATH")
        self.assertIn("sotto", run(program, "--version"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
