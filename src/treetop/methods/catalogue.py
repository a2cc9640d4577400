"""The methods, a record each: all that is known about them without importing them.

Whatever lists methods is derived from these records: the names of the package, the command line's help, `treetop
presets`, `treetop.load`, and the tests of what every method promises. A new method is its own file, and here its record
and the import by which type checkers know its class and its configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treetop.methods.record import Capability, MethodRecord

if TYPE_CHECKING:  # `treetop` passes on all public names of this file; when it runs it finds them by the records
    from treetop.methods.cascadexml import CascadeXML as CascadeXML, CascadeXMLConfig as CascadeXMLConfig
    from treetop.methods.ensemble import Ensemble as Ensemble, EnsembleConfig as EnsembleConfig
    from treetop.methods.lightxml import LightXML as LightXML, LightXMLConfig as LightXMLConfig
    from treetop.methods.one_vs_all import OneVsAll as OneVsAll, OneVsAllConfig as OneVsAllConfig
    from treetop.methods.x_transformer import XTransformer as XTransformer, XTransformerConfig as XTransformerConfig
    from treetop.methods.xr_linear import XRLinear as XRLinear, XRLinearConfig as XRLinearConfig
    from treetop.methods.xr_transformer import (
        XRTransformer as XRTransformer,
        XRTransformerConfig as XRTransformerConfig,
    )
else:
    __all__ = ["METHODS"]

_TUNED: frozenset[Capability] = frozenset({"encoder", "resume"})
_PIECES: frozenset[Capability] = frozenset({"pieces"})

METHODS = {
    record.name: record
    for record in (
        MethodRecord(
            "xr-linear",
            "treetop.methods.xr_linear:XRLinear",
            "linear classifiers on a label tree; the default",
            _PIECES,
        ),
        MethodRecord(
            "one-vs-all",
            "treetop.methods.one_vs_all:OneVsAll",
            "a linear classifier per label",
            _PIECES,
        ),
        MethodRecord(
            "lightxml",
            "treetop.methods.lightxml:LightXML",
            "an encoder that recalls groups of labels and ranks those in them",
            _TUNED,
            extra="neural",
        ),
        MethodRecord(
            "xr-transformer",
            "treetop.methods.xr_transformer:XRTransformer",
            "an encoder tuned on ever finer levels, then a linear tree",
            _TUNED | _PIECES,
            extra="neural",
        ),
        MethodRecord(
            "cascadexml",
            "treetop.methods.cascadexml:CascadeXML",
            "layers of an encoder for levels of the tree",
            _TUNED | _PIECES,
            extra="neural",
        ),
        MethodRecord(
            "x-transformer",
            "treetop.methods.x_transformer:XTransformer",
            "an encoder finds groups, linear classifiers rank in them",
            _TUNED | _PIECES,
            extra="neural",
        ),
        MethodRecord(
            "ensemble",
            "treetop.methods.ensemble:Ensemble",
            "several models that vote; `treetop ensemble`, or the preset `best`",
            frozenset({"members", "resume"}),
        ),
    )
}
"""The record of each method by its name."""
