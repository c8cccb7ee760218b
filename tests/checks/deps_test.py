"""tools/deps.sh with stand-ins for dpkg-query, apt-get, id and sudo on the path."""
import os
import subprocess

from checker_case import ROOT, CheckerCase, unittest


class Deps(CheckerCase):
    def stand_in(self, name, script):
        self.write(f"bin/{name}", "#!/bin/bash\n" + script)
        (self.root / "bin" / name).chmod(0o755)

    def run_deps(self, *arguments):
        path = f"{self.root}/bin:{os.environ['PATH']}"
        return subprocess.run([ROOT / "tools" / "deps.sh", *arguments], capture_output=True, text=True,
                              env={**os.environ, "PATH": path, "LOG": f"{self.root}/log"})

    def installed(self, packages):
        self.stand_in("dpkg-query", f'for p in {packages}; do printf "installed:%s " "$p"; done\n')

    def log(self):
        log = self.root / "log"
        return log.read_text() if log.exists() else ""

    def test_nothing_is_run_when_everything_is_there(self):
        self.installed("clang clang-format clang-tidy lld")
        self.stand_in("apt-get", 'echo "$@" >>"$LOG"\n')
        outcome = self.run_deps("dev")
        self.assertEqual((outcome.returncode, outcome.stderr, self.log()), (0, "", ""))

    def test_only_missing_packages_are_installed_after_an_update(self):
        self.installed("clang clang-format")
        self.stand_in("id", "echo 0\n")
        self.stand_in("apt-get", 'echo "$@" >>"$LOG"\n')
        self.assertEqual(self.run_deps("dev").returncode, 0)
        self.assertEqual(self.log(), "-q update\n-q install -y --no-install-recommends clang-tidy lld\n")

    def test_sudo_is_used_when_not_root(self):
        self.installed("clang clang-format clang-tidy")
        self.stand_in("id", "echo 1000\n")
        self.stand_in("sudo", 'echo "sudo" >>"$LOG"; exec "$@"\n')
        self.stand_in("apt-get", 'echo "$@" >>"$LOG"\n')
        self.assertEqual(self.run_deps("dev").returncode, 0)
        self.assertEqual(self.log(), "sudo\n-q update\nsudo\n-q install -y --no-install-recommends lld\n")

    def test_a_failing_installation_fails_with_the_package_names(self):
        self.installed("clang")
        self.stand_in("id", "echo 0\n")
        self.stand_in("apt-get", "exit 100\n")
        outcome = self.run_deps("dev")
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("could not install clang-format clang-tidy lld", outcome.stderr)

    def test_a_removed_package_counts_as_missing(self):
        self.stand_in("dpkg-query", 'printf "config-files:clang installed:clang-format installed:clang-tidy installed:lld "\n')
        self.stand_in("id", "echo 0\n")
        self.stand_in("apt-get", 'echo "$@" >>"$LOG"\n')
        self.run_deps("dev")
        self.assertIn("recommends clang\n", self.log())


if __name__ == "__main__":
    unittest.main()
