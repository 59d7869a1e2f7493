//! Types of every kind, each the one parameter of a tool.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr};
use std::num::{NonZeroI16, NonZeroU8, NonZeroU64};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use toolwright::{Handle, data, tool};

/// A point.
#[data]
pub struct Point {
    /// To the right.
    x: i32,
    /// Upwards, nothing for the ground.
    y: Option<i32>,
}

/// A tree of names.
#[data]
pub struct Tree {
    name: String,
    #[serde(default)]
    branches: Vec<Tree>,
    parent: Option<Box<Tree>>,
}

/// How fast.
#[data]
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum Speed {
    Fast,
    VerySlow,
}

/// Where to look, each place with a word on it.
#[data]
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Here.
    Here,
    /// Elsewhere.
    There,
}

#[data]
pub enum External {
    Nothing,
    One(u8),
    Maybe(Option<u8>),
    Pair(u8, String),
    Named { point: Point, flag: Option<bool> },
}

#[data]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Internal {
    Nothing,
    Counted { count: u32, ratio: Option<f64> },
    Pointed(Point),
}

#[data]
#[serde(tag = "t", content = "c")]
pub enum Adjacent {
    Nothing,
    One(u8),
    Maybe(Option<u8>),
    Pair(u8, Option<u8>),
    Named { count: i64 },
}

#[data]
#[serde(untagged)]
pub enum Untagged {
    Number(i64),
    Text(String),
    Point(Point),
    List(Vec<u16>),
}

#[data]
pub struct Newtype(u16);

#[data]
pub struct Perhaps(Option<u16>);

#[data]
pub struct Unit;

#[data]
pub struct PairStruct(u8, Option<bool>);

#[data]
pub struct HoldsNewtypes {
    always: Perhaps,
    optional: Option<Perhaps>,
    #[serde(default = "five")]
    five: Perhaps,
}

fn five() -> Perhaps {
    Perhaps(Some(5))
}

#[data]
pub struct DoubleInside {
    twice: Option<Option<u8>>,
    anything: Option<Value>,
}

#[data]
pub struct Page {
    offset: Option<u32>,
    limit: u8,
}

#[data]
pub struct Flattened {
    query: String,
    #[serde(flatten)]
    page: Page,
}

#[data]
pub struct FlattenedEnum {
    folder: String,
    #[serde(flatten)]
    kind: Internal,
}

#[data]
pub struct FlattenedMap {
    name: String,
    #[serde(flatten)]
    rest: BTreeMap<String, u32>,
}

#[data]
pub struct FlattenedAlone {
    #[serde(flatten)]
    numbers: BTreeMap<String, u32>,
}

#[data]
#[serde(default)]
pub struct Defaults {
    size: u8,
    names: Vec<String>,
    place: Option<String>,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { size: 3, names: vec!["a".to_owned()], place: None }
    }
}

#[data]
pub struct FieldDefaults {
    #[serde(default)]
    inner: Defaults,
    #[serde(default = "five_bytes")]
    size: u8,
}

fn five_bytes() -> u8 {
    5
}

#[data]
#[serde(rename_all = "camelCase")]
pub struct Renamed {
    first_name: String,
    #[serde(rename = "SECOND")]
    second_name: Option<u8>,
}

#[data]
pub struct Aliased {
    #[serde(alias = "old_name", alias = "alias")]
    name: Option<String>,
    speeds: Vec<AliasedSpeed>,
}

#[data]
pub enum AliasedSpeed {
    #[serde(alias = "Quick")]
    Fast,
    #[serde(alias = "alias")]
    By(u8),
}

#[data]
pub enum Other {
    Known,
    #[serde(other)]
    Unknown,
}

#[data]
#[expect(dead_code, reason = "nothing writes what is skipped")]
pub struct Skips {
    kept: u8,
    #[serde(skip)]
    skipped: u8,
    #[serde(skip_serializing)]
    silent: Option<u8>,
}

#[data]
#[serde(deny_unknown_fields)]
pub struct Denies {
    a: bool,
}

#[data]
pub struct Limited {
    #[schemars(range(min = 1, max = 9))]
    number: i64,
    #[schemars(length(min = 1, max = 3))]
    text: String,
    #[schemars(regex(pattern = "^[a-z]+$"))]
    word: Option<String>,
}

#[data]
pub struct Borrowing {
    text: Cow<'static, str>,
    boxed: Box<[u8]>,
}

#[data]
#[serde(transparent)]
pub struct Transparent {
    inner: Option<u8>,
}

macro_rules! tools {
    ($($name:ident: $type:ty,)*) => {
        $(mod $name {
            use super::*;

            /// Takes a value.
            #[tool(effect = read, handle = HANDLE)]
            pub async fn $name(
                /// The value.
                value: $type,
            ) {
                let _ = value;
            }
        })*

        /// A tool for each type.
        pub fn tools() -> Vec<Handle> {
            vec![$($name::HANDLE),*]
        }
    };
}

tools! {
    a_string: String,
    a_cow: Cow<'static, str>,
    a_boolean: bool,
    a_char: char,
    a_path: PathBuf,
    an_i8: i8,
    an_i16: i16,
    an_i32: i32,
    an_i64: i64,
    an_i128: i128,
    an_isize: isize,
    a_u8: u8,
    a_u16: u16,
    a_u32: u32,
    a_u64: u64,
    a_u128: u128,
    a_usize: usize,
    a_non_zero: NonZeroU8,
    a_long_non_zero: NonZeroU64,
    a_signed_non_zero: NonZeroI16,
    an_f32: f32,
    an_f64: f64,
    a_unit: (),
    a_unit_struct: Unit,
    any_value: Value,
    an_option: Option<u8>,
    an_option_of_an_option: Option<Option<u8>>,
    an_option_of_a_struct_in_an_option: Option<Option<Point>>,
    an_option_of_any_value: Option<Value>,
    an_option_of_an_enum: Option<Speed>,
    an_option_of_a_union: Option<Untagged>,
    a_list: Vec<String>,
    a_list_of_options: Vec<Option<Point>>,
    a_list_of_big_numbers: Vec<i128>,
    a_set: BTreeSet<u8>,
    a_hash_set: HashSet<Speed>,
    an_array: [u8; 3],
    an_empty_array: [u8; 0],
    a_tuple: (u8, Option<bool>, String),
    a_tuple_struct: PairStruct,
    a_map: BTreeMap<String, Option<u8>>,
    a_map_by_byte: BTreeMap<u8, bool>,
    a_map_by_i64: HashMap<i64, String>,
    a_map_by_i128: BTreeMap<i128, String>,
    a_map_by_non_zero: BTreeMap<NonZeroU8, bool>,
    a_map_by_enum: BTreeMap<Speed, u8>,
    a_map_by_described_enum: BTreeMap<Scope, u8>,
    a_map_by_char: BTreeMap<char, u8>,
    a_map_by_bool: BTreeMap<bool, u8>,
    a_map_by_uuid: BTreeMap<uuid::Uuid, u8>,
    a_map_of_maps: BTreeMap<u16, BTreeMap<String, Point>>,
    a_box: Box<Point>,
    a_struct: Point,
    a_tree: Tree,
    a_unit_enum: Speed,
    a_described_enum: Scope,
    an_external_enum: External,
    an_internal_enum: Internal,
    an_adjacent_enum: Adjacent,
    an_untagged_enum: Untagged,
    a_list_of_unions: Vec<Untagged>,
    a_newtype: Newtype,
    an_optional_newtype: Option<Perhaps>,
    a_newtype_of_an_option: Perhaps,
    newtypes_inside: HoldsNewtypes,
    a_double_option_inside: DoubleInside,
    a_transparent_struct: Transparent,
    a_flattened_struct: Flattened,
    a_flattened_enum: FlattenedEnum,
    a_flattened_map: FlattenedMap,
    a_flattened_map_alone: FlattenedAlone,
    defaults: Defaults,
    field_defaults: FieldDefaults,
    renamed_fields: Renamed,
    aliases: Aliased,
    an_aliased_enum: AliasedSpeed,
    a_fallback_enum: Other,
    skipped_fields: Skips,
    denied_fields: Denies,
    limited_fields: Limited,
    borrowed_text: Borrowing,
    a_result: Result<u8, String>,
    a_duration: Duration,
    a_point_in_time: SystemTime,
    an_ip_address: IpAddr,
    an_optional_ip_address: Option<IpAddr>,
    an_ipv4_address: Ipv4Addr,
    a_uuid: uuid::Uuid,
    a_url: url::Url,
    a_chrono_date_time: chrono::DateTime<chrono::Utc>,
    a_chrono_offset_date_time: chrono::DateTime<chrono::FixedOffset>,
    a_chrono_date: chrono::NaiveDate,
    a_chrono_time: chrono::NaiveTime,
    a_chrono_local_date_time: chrono::NaiveDateTime,
    a_chrono_duration: chrono::TimeDelta,
    a_weekday: chrono::Weekday,
    a_jiff_timestamp: jiff::Timestamp,
    a_jiff_date: jiff::civil::Date,
    a_jiff_time: jiff::civil::Time,
    a_jiff_local_date_time: jiff::civil::DateTime,
    a_jiff_duration: jiff::SignedDuration,
    a_jiff_span: jiff::Span,
}

macro_rules! whole {
    ($($name:ident: $type:ty,)*) => {
        $(mod $name {
            use super::*;

            /// Takes a whole input.
            #[tool(effect = read, handle = HANDLE)]
            pub async fn $name(#[input] value: $type) {
                let _ = value;
            }
        })*

        /// A tool for each type that is a whole input.
        pub fn whole() -> Vec<Handle> {
            vec![$($name::HANDLE),*]
        }
    };
}

whole! {
    whole_point: Point,
    whole_tree: Tree,
    whole_flattened: Flattened,
    whole_flattened_map: FlattenedMap,
    whole_aliases: Aliased,
    whole_newtypes: HoldsNewtypes,
    whole_double: DoubleInside,
    whole_defaults: FieldDefaults,
    whole_duration: Duration,
}
