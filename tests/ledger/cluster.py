"""A PostgreSQL server of our own in a temporary directory; it is removed at the end of the `with` block."""
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile


def programs():
    """Where initdb and pg_ctl are, or None when Debian's package postgresql is not installed."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


def unprivileged():
    """Words that run a command as who may run a server: it refuses root, so root hands it to an unprivileged user."""
    return ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []


def missing():
    """Why there can be no server here, or None."""
    if programs() is None:
        return "no PostgreSQL server to start; install the package postgresql"
    if subprocess.run([*unprivileged(), "true"], cwd="/", capture_output=True, check=False).returncode != 0:
        return "the user postgres can run nothing here (may others enter the root directory?)"
    return None


def free_port(address):
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def cluster(network=None):
    """Yields the URL of a server on a socket of its own, and the port on which it also listens at the address `network`, if any."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="sotto-cluster-"))
    user = unprivileged()
    if user:
        shutil.chown(place, "postgres")
    place.chmod(0o755)

    def run(*words):
        subprocess.run([*user, *words], check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    data = place / "data"
    control = [str(programs() / "pg_ctl"), "-w", "-s", "-D", str(data)]
    port = free_port(network) if network else 5432
    try:
        run(str(programs() / "initdb"), "-D", str(data), "-A", "trust", "-U", "sotto", "-E", "UTF8", "--locale=C", "--data-checksums", "-N")
        if network:
            with open(data / "pg_hba.conf", "a", encoding="ascii") as rules:
                rules.write("host all all samenet trust\n")
        options = f"-c listen_addresses={network or ''} -p {port} -c unix_socket_directories={place} -c shared_buffers=16MB"
        run(*control, "-l", str(data / "log"), "-o", options, "start")
        os.environ["SOTTO_WITNESS"] = str(place / "heads")  # not in the home of who runs the tests
        try:
            yield f"postgresql:///postgres?host={place}&port={port}&user=sotto", port
        finally:
            run(*control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(place, ignore_errors=True)
