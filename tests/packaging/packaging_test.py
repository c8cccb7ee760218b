"""The installed package as others see it: packaging_test.py BUILD SOURCE MODULES…

Installs the build into a temporary tree, then builds and runs consumer projects against it, by CMake and by pkg-config.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE, *MODULES = sys.argv[1:] if len(sys.argv) > 3 else ("", "", "")
HERE = pathlib.Path(__file__).resolve().parent


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


class Packaging(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._folder.cleanup)
        cls.folder = pathlib.Path(cls._folder.name)
        cls.prefix = cls.folder / "prefix"
        outcome = run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr

    def configure(self, name, components, *options):
        return run("cmake", "-G", "Ninja", "-S", HERE / "consumer", "-B", self.folder / name, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   f"-DCOMPONENTS={components}", *options)

    def assertRan(self, outcome):
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)
        return outcome.stdout

    def test_every_header_that_an_installed_header_includes_is_installed(self):
        include = self.prefix / "include"
        headers = list(include.rglob("*.hpp"))
        self.assertLessEqual(set(MODULES), {path.relative_to(include).parts[1].removesuffix(".hpp") for path in headers})
        missing = {name for path in headers for name in re.findall(r'^#include "(sotto/[^"]+)"', path.read_text(), re.MULTILINE)
                   if not (include / name).exists()}
        self.assertEqual(missing, set())

    def test_command_manual_and_completions_are_installed(self):
        self.assertRan(run(self.prefix / "bin/sotto", "--version"))
        for path in ("share/man/man1/sotto.1", "share/bash-completion/completions/sotto", "share/doc/sotto/copyright"):
            self.assertGreater((self.prefix / path).stat().st_size, 0, path)

    def test_documents_that_the_readme_links_to_are_installed(self):
        documents = self.prefix / "share/doc/sotto"
        links = set(re.findall(r"\]\(([^)#:]+)", (documents / "README.md").read_text())) - {"CHANGELOG.md"}  # Debian's name
        self.assertGreater(len(links), 8)
        self.assertEqual({link for link in links if not (documents / link).exists()}, set())
        for name in ("docs/tutorial.md", "demo/clinic.csv", "demo/clinic.toml", "examples/16_fit_from_memory.cpp"):
            self.assertGreater((documents / name).stat().st_size, 0, name)

    def test_installed_examples_of_models_accounting_and_ledger_build_and_run(self):
        for name, component in (("12_train_a_linear_model", "models"), ("14_what_it_costs", "accounting"),
                                ("15_budget_ledger", "ledger"), ("16_fit_from_memory", "models")):
            place = self.prefix / f"share/doc/sotto/examples/{name}.cpp"
            self.assertRan(self.configure(name, f"mechanisms;{component}", f"-DSOURCE={place}"))
            self.assertRan(run("cmake", "--build", self.folder / name))
            self.assertRan(run(self.folder / name / "consumer"))

    def test_package_files_name_neither_source_nor_build_folder(self):
        files = [path for pattern in ("*.cmake", "*.pc") for path in self.prefix.rglob(pattern)]
        self.assertGreater(len(files), 4)
        for path in files:
            self.assertNotIn(SOURCE, path.read_text(), path)
            self.assertNotIn(BUILD, path.read_text(), path)

    def test_cmake_consumer_of_core_builds_and_runs(self):
        self.assertRan(self.configure("core", "core", "-DSOURCE=spec.cpp"))
        self.assertRan(run("cmake", "--build", self.folder / "core"))
        self.assertIn('"noise_multiplier":1.5', self.assertRan(run(self.folder / "core/consumer")))

    def test_cmake_consumer_of_mechanisms_and_accounting_builds_and_runs(self):
        self.assertRan(self.configure("release", "mechanisms;accounting", "-DSOURCE=release.cpp"))
        self.assertRan(run("cmake", "--build", self.folder / "release"))
        self.assertIn("as promised", self.assertRan(run(self.folder / "release/consumer")))

    def test_wrong_component_is_refused_with_the_reason(self):
        outcome = self.configure("wrong", "core;telepathy")
        self.assertNotEqual(outcome.returncode, 0)
        words = " ".join(outcome.stderr.split())
        self.assertIn("has no component 'telepathy'; it has: core", words)

    def test_wrong_version_is_refused(self):
        text = (HERE / "consumer/CMakeLists.txt").read_text().replace("sotto 0.1", "sotto 7.0")
        (self.folder / "old").mkdir()
        (self.folder / "old/CMakeLists.txt").write_text(text)
        outcome = run("cmake", "-G", "Ninja", "-S", self.folder / "old", "-B", self.folder / "old/build",
                      f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCOMPONENTS=core")
        self.assertNotEqual(outcome.returncode, 0)

    def test_components_look_only_for_the_packages_they_need(self):
        no_zlib = "-DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON"
        self.assertRan(self.configure("no_zlib", ";".join(m for m in MODULES if m in ("core", "noise", "accounting")), no_zlib))
        if "data" in MODULES:
            outcome = self.configure("needs_zlib", "data", no_zlib)
            self.assertNotEqual(outcome.returncode, 0)
            self.assertIn("component 'data' needs the package ZLIB", " ".join(outcome.stderr.split()))

    def test_all_components_together_are_found(self):
        self.assertRan(self.configure("all", ""))

    def test_pkg_config_consumers_build_and_run(self):
        (folder,) = {path.parent for path in self.prefix.rglob("sotto.pc")}
        environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
        for package, source, words in (("sotto-core", "spec.cpp", "secure"), ("sotto", "release.cpp", "as promised")):
            flags = self.assertRan(run("pkg-config", "--static", "--cflags", "--libs", package, env=environment)).split()
            program = self.folder / f"{package}-consumer"
            self.assertRan(run("c++", HERE / "consumer" / source, "-o", program, *flags))
            self.assertIn(words, self.assertRan(run(program)))

    def test_pkg_config_of_core_does_not_need_zlib(self):
        (folder,) = {path.parent for path in self.prefix.rglob("sotto.pc")}
        environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
        self.assertNotIn("-lz", self.assertRan(run("pkg-config", "--static", "--libs", "sotto-core", env=environment)).split())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
