// A temporary file that has no name: nobody finds it, and it is gone when it is closed, however the
// process ends.
#pragma once

namespace sotto {

// Open for reading and writing, for this process alone, in TMPDIR or else in /tmp; −1, and errno
// set, where there is no place for it.
int open_nameless_file();

}  // namespace sotto
