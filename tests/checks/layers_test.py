from checker_case import CheckerCase, unittest
import check_layers


class Layers(CheckerCase):
    def include(self, path, *headers):
        self.write(path, "".join(f"#include {header}\n" for header in headers))
        return check_layers.check(self.root)

    def test_downward_includes_are_fine(self):
        self.assertEqual(self.include("src/sotto/mechanisms/a.hpp", '"sotto/core/b.hpp"', '"sotto/noise/c.hpp"', "<vector>"), [])

    def test_own_headers_are_fine(self):
        self.assertEqual(self.include("src/sotto/noise/a.cpp", '"sotto/noise/a.hpp"'), [])

    def test_upward_include_is_refused_with_its_line(self):
        problems = self.include("src/sotto/core/a.hpp", "<vector>", '"sotto/noise/b.hpp"')
        self.assertEqual(problems, ["src/sotto/core/a.hpp:2: core may not include noise"])

    def test_sideways_include_is_refused(self):
        problems = self.include("src/sotto/mechanisms/a.cpp", '"sotto/accounting/b.hpp"')
        self.assertEqual(problems, ["src/sotto/mechanisms/a.cpp:1: mechanisms may not include accounting"])

    def test_a_test_may_look_sideways_but_not_up(self):
        self.assertEqual(self.include("src/sotto/mechanisms/a_test.cpp", '"sotto/accounting/b.hpp"'), [])
        self.assertEqual(len(self.include("src/sotto/mechanisms/a_test.cpp", '"sotto/models/b.hpp"')), 1)

    def test_angle_brackets_do_not_hide_an_upward_include(self):
        self.assertEqual(len(self.include("src/sotto/noise/a.cpp", "<sotto/data/b.hpp>")), 1)

    def test_detail_is_for_its_own_module_and_not_for_installed_headers(self):
        self.assertEqual(self.include("src/sotto/noise/a.cpp", '"sotto/noise/detail/b.hpp"'), [])
        self.assertEqual(self.include("src/sotto/noise/detail/a.hpp", '"sotto/noise/detail/b.hpp"'), [])
        self.assertEqual(len(self.include("src/sotto/noise/c.hpp", '"sotto/noise/detail/b.hpp"')), 1)
        self.assertEqual(len(self.include("src/sotto/data/a.cpp", '"sotto/noise/detail/b.hpp"')), 2)

    def test_what_is_embedded_sees_less(self):
        self.assertEqual(self.include("src/sotto/local/client/a.cpp", '"sotto/noise/b.hpp"', '"sotto/local/client/c.hpp"'), [])
        self.assertEqual(len(self.include("src/sotto/local/client/a.cpp", '"sotto/local/server/b.hpp"')), 1)
        self.assertEqual(len(self.include("src/sotto/local/client/a.cpp", '"sotto/accounting/b.hpp"')), 1)

    def test_unknown_module_is_refused(self):
        self.assertEqual(len(self.include("src/sotto/misc/a.cpp", "<vector>")), 1)
        self.assertEqual(len(self.include("apps/sotto/a.cpp", '"sotto/misc/a.hpp"')), 2)

    def test_torch_stays_in_its_room(self):
        self.assertEqual(len(self.include("src/sotto/models/a.cpp", "<torch/types.h>")), 1)

    def test_relative_include_is_refused(self):
        self.assertEqual(len(self.include("src/sotto/core/a.cpp", '"b.hpp"')), 1)


if __name__ == "__main__":
    unittest.main()
