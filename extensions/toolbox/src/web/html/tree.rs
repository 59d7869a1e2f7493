//! The tree of a page, which counts what the parser makes. The parser repeats formatting elements that are still open,
//! such as `a`, in each further paragraph, so that a page may have far more elements than tags.

use std::borrow::Cow;
use std::cell::Cell;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, ExpandedName, QualName};
use markup5ever_rcdom::{Handle, RcDom};

/// A tree whose elements are counted. The attributes of all elements together have a limit; further elements are made
/// without attributes.
pub(super) struct CountedTree {
    dom: RcDom,
    elements: Cell<usize>,
    /// How many bytes of attributes may be added.
    room: Cell<usize>,
}

impl CountedTree {
    pub(super) fn new(room: usize) -> Self {
        Self { dom: RcDom::default(), elements: Cell::new(0), room: Cell::new(room) }
    }

    pub(super) fn document(&self) -> Handle {
        self.dom.document.clone()
    }

    /// Returns how many elements the parser has made.
    pub(super) fn elements(&self) -> usize {
        self.elements.get()
    }
}

impl TreeSink for CountedTree {
    type Handle = Handle;
    type Output = Handle;
    type ElemName<'a>
        = ExpandedName<'a>
    where
        Self: 'a;

    fn finish(self) -> Handle {
        self.dom.document
    }

    /// Errors of a page are not stored, because a page may have millions of them.
    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        self.dom.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        self.dom.elem_name(target)
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> Handle {
        self.elements.set(self.elements.get() + 1);
        let bytes = attrs.iter().map(|it| it.name.local.len() + it.value.len()).sum();
        let room = self.room.get().checked_sub(bytes);
        self.room.set(room.unwrap_or(0));
        let attrs = if room.is_some() { attrs } else { Vec::new() };
        self.dom.create_element(name, attrs, flags)
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        self.dom.create_comment(text)
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Handle {
        self.dom.create_pi(target, data)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.dom.append(parent, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        previous: &Handle,
        child: NodeOrText<Handle>,
    ) {
        self.dom.append_based_on_parent_node(element, previous, child);
    }

    fn append_doctype_to_document(
        &self,
        name: StrTendril,
        public_id: StrTendril,
        system_id: StrTendril,
    ) {
        self.dom.append_doctype_to_document(name, public_id, system_id);
    }

    fn get_template_contents(&self, target: &Handle) -> Handle {
        self.dom.get_template_contents(target)
    }

    fn same_node(&self, one: &Handle, other: &Handle) -> bool {
        self.dom.same_node(one, other)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.dom.set_quirks_mode(mode);
    }

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        self.dom.append_before_sibling(sibling, child);
    }

    fn add_attrs_if_missing(&self, target: &Handle, attrs: Vec<Attribute>) {
        self.dom.add_attrs_if_missing(target, attrs);
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.dom.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &Handle, parent: &Handle) {
        self.dom.reparent_children(node, parent);
    }

    fn is_mathml_annotation_xml_integration_point(&self, target: &Handle) -> bool {
        self.dom.is_mathml_annotation_xml_integration_point(target)
    }
}
