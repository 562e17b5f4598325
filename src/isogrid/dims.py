"""Ready-made dimensions, one per capital letter: `from isogrid.dims import H, W`."""

from isogrid.frontend.dims import Dim

__all__ = list("ABCDEFGHIJKLMNOPQRSTUVWXYZ")  # pyright: ignore[reportUnsupportedDunderAll]


class A(Dim):
    """Dimension A."""


class B(Dim):
    """Dimension B."""


class C(Dim):
    """Dimension C."""


class D(Dim):
    """Dimension D."""


class E(Dim):
    """Dimension E."""


class F(Dim):
    """Dimension F."""


class G(Dim):
    """Dimension G."""


class H(Dim):
    """Dimension H."""


class I(Dim):  # noqa: E742 - a letter like the others
    """Dimension I."""


class J(Dim):
    """Dimension J."""


class K(Dim):
    """Dimension K."""


class L(Dim):
    """Dimension L."""


class M(Dim):
    """Dimension M."""


class N(Dim):
    """Dimension N."""


class O(Dim):  # noqa: E742 - a letter like the others
    """Dimension O."""


class P(Dim):
    """Dimension P."""


class Q(Dim):
    """Dimension Q."""


class R(Dim):
    """Dimension R."""


class S(Dim):
    """Dimension S."""


class T(Dim):
    """Dimension T."""


class U(Dim):
    """Dimension U."""


class V(Dim):
    """Dimension V."""


class W(Dim):
    """Dimension W."""


class X(Dim):
    """Dimension X."""


class Y(Dim):
    """Dimension Y."""


class Z(Dim):
    """Dimension Z."""
