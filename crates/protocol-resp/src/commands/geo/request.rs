// SPDX-License-Identifier: Apache-2.0
//! [`Request`]: what a command that searches is asked for.

use super::super::double;
use super::place::Place;
use super::shape::{Region, Shape};
use super::{place_at, unit};
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use values::{ZsetRef, parse_i64};

/// Which command it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// GEORADIUS, or GEORADIUS_RO, which may not store.
    Radius {
        stores: bool,
    },
    /// GEORADIUSBYMEMBER, or GEORADIUSBYMEMBER_RO.
    RadiusByMember {
        stores: bool,
    },
    Search,
    SearchStore,
}

impl Form {
    fn is_search(self) -> bool {
        matches!(self, Form::Search | Form::SearchStore)
    }

    fn may_store(self) -> bool {
        matches!(self, Form::Radius { stores: true } | Form::RadiusByMember { stores: true })
    }
}

/// The order of what is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    NearFirst,
    FarFirst,
}

/// The arguments.
#[derive(Debug)]
pub(super) struct Request<'a> {
    /// Where to search, and the meters of the unit in which distances are shown. `None` where there is no set: then
    /// not all arguments are looked at.
    pub(super) region: Option<(Region, f64)>,
    pub(super) with_distance: bool,
    pub(super) with_score: bool,
    pub(super) with_place: bool,
    pub(super) order: Option<Order>,
    /// The most members that are returned.
    pub(super) count: Option<usize>,
    /// Any that many of them, and not those that are nearest.
    pub(super) any: bool,
    /// The key under which the members are stored, and whether their scores are distances.
    pub(super) store: Option<(&'a [u8], bool)>,
}

/// What has been read so far of where to search.
#[derive(Debug, Default)]
struct Where {
    centre: Option<Place>,
    from_member: bool,
    from_place: bool,
    /// A circle or a box, and its unit.
    shape: Option<(Shape, f64)>,
    polygon: Option<Vec<Place>>,
}

impl<'a> Request<'a> {
    /// Reads the arguments; those that name a member look it up in the set, if there is one.
    pub(super) fn parse(
        args: Args<'a>,
        form: Form,
        set: Option<ZsetRef<'_>>,
    ) -> Result<Self, Fault> {
        let mut request = Request {
            region: None,
            with_distance: false,
            with_score: false,
            with_place: false,
            order: None,
            count: None,
            any: false,
            store: None,
        };
        let mut area = Where::default();
        let first = match form {
            Form::Radius { .. } => {
                area.centre = Some(place_at(args, 2)?);
                area.shape = Some(circle(args, 4)?);
                6
            }
            Form::RadiusByMember { .. } => {
                if set.is_some() {
                    area.centre = member(set, args.arg(2))?;
                    area.shape = Some(circle(args, 3)?);
                }
                5
            }
            Form::Search => 2,
            Form::SearchStore => {
                request.store = Some((args.arg(1), false));
                3
            }
        };
        let mut at = first;
        while let Some(word) = args.get(at) {
            let rest = args.tail(at);
            let used = match request.option(word, rest, form)? {
                Some(used) => used,
                None if form.is_search() => area.option(word, rest, set)?.ok_or(Fault::SYNTAX)?,
                None => return Err(Fault::SYNTAX),
            };
            at = at.saturating_add(used);
        }
        request.check(form, &area, args.arg(0))?;
        request.region = area.region();
        Ok(request)
    }

    /// Notes an option that all commands have; returns how many arguments it takes, or `None` if it is none.
    fn option(&mut self, word: &[u8], rest: Args<'a>, form: Form) -> Result<Option<usize>, Fault> {
        let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
        match () {
            () if is(b"withdist") => self.with_distance = true,
            () if is(b"withhash") => self.with_score = true,
            () if is(b"withcoord") => self.with_place = true,
            () if is(b"any") => self.any = true,
            () if is(b"asc") => self.order = Some(Order::NearFirst),
            () if is(b"desc") => self.order = Some(Order::FarFirst),
            () if is(b"storedist") && form == Form::SearchStore => {
                self.store = self.store.map(|(key, _)| (key, true));
            }
            () => {
                let Some(value) = rest.get(1) else { return Ok(None) };
                match () {
                    () if is(b"count") => {
                        let count = parse_i64(value).ok_or(Fault::NOT_INTEGER)?;
                        let count = usize::try_from(count).ok().filter(|count| *count > 0);
                        self.count = Some(count.ok_or(Fault::new("ERR COUNT must be > 0"))?);
                    }
                    () if is(b"store") && form.may_store() => self.store = Some((value, false)),
                    () if is(b"storedist") && form.may_store() => self.store = Some((value, true)),
                    () => return Ok(None),
                }
                return Ok(Some(2));
            }
        }
        Ok(Some(1))
    }

    /// Checks what options mean together.
    fn check(&mut self, form: Form, area: &Where, name: &[u8]) -> Result<(), Fault> {
        if self.store.is_some() && (self.with_distance || self.with_score || self.with_place) {
            return Err(Fault::new(if form == Form::SearchStore {
                "ERR GEOSEARCHSTORE is not compatible with WITHDIST, WITHHASH and WITHCOORD options"
            } else {
                "ERR STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and \
                 WITHCOORD options"
            }));
        }
        let lacks = |what: &[u8]| {
            Fault::made([b"ERR exactly one of ", what, b" can be specified for ", name].concat())
        };
        if form.is_search() && area.polygon.is_none() {
            if !area.from_member && !area.from_place {
                return Err(lacks(b"FROMMEMBER or FROMLONLAT"));
            }
            if area.shape.is_none() {
                return Err(lacks(b"BYRADIUS and BYBOX"));
            }
        }
        if self.any && self.count.is_none() {
            return Err(Fault::new("ERR the ANY argument requires COUNT argument"));
        }
        if self.count.is_some() && !self.any && self.order.is_none() {
            self.order = Some(Order::NearFirst);
        }
        Ok(())
    }
}

impl Where {
    /// Notes an option of GEOSEARCH; returns how many arguments it takes, or `None` if it is none, or excluded by
    /// another.
    fn option(
        &mut self,
        word: &[u8],
        rest: Args<'_>,
        set: Option<ZsetRef<'_>>,
    ) -> Result<Option<usize>, Fault> {
        let is =
            |name: &[u8], values: usize| word.eq_ignore_ascii_case(name) && rest.len() > values;
        let is_free = self.polygon.is_none();
        match () {
            () if is(b"frommember", 1) && is_free && !self.from_place => {
                self.centre = member(set, rest.arg(1))?;
                self.from_member = true;
                Ok(Some(2))
            }
            () if is(b"fromlonlat", 2) && is_free && !self.from_member => {
                self.centre = Some(place_at(rest, 1)?);
                self.from_place = true;
                Ok(Some(3))
            }
            () if is(b"byradius", 2) && is_free && !self.is_box() => {
                self.shape = Some(circle(rest, 1)?);
                Ok(Some(3))
            }
            () if is(b"bybox", 3) && is_free && !self.is_circle() => {
                self.shape = Some(rectangle(rest, 1)?);
                Ok(Some(4))
            }
            () if is(b"bypolygon", 2)
                && self.shape.is_none()
                && !self.from_member
                && !self.from_place =>
            {
                let corners = polygon(rest)?;
                let used = corners.len().saturating_mul(2).saturating_add(2);
                self.polygon = Some(corners);
                Ok(Some(used))
            }
            () => Ok(None),
        }
    }

    fn is_circle(&self) -> bool {
        matches!(self.shape, Some((Shape::Circle { .. }, _)))
    }

    fn is_box(&self) -> bool {
        matches!(self.shape, Some((Shape::Box { .. }, _)))
    }

    fn region(self) -> Option<(Region, f64)> {
        if let Some(corners) = self.polygon {
            return Some((Region::polygon(corners), 1.0));
        }
        let (shape, unit) = self.shape?;
        Some((Region { centre: self.centre?, shape }, unit))
    }
}

/// The place of a member; `None` if there is no set.
fn member(set: Option<ZsetRef<'_>>, name: &[u8]) -> Result<Option<Place>, Fault> {
    let Some(set) = set else { return Ok(None) };
    let score = set.score(name);
    let score = score.ok_or(Fault::new("ERR could not decode requested zset member"))?;
    Ok(Some(Place::of_score(score)))
}

/// A radius and its unit.
fn circle(args: Args<'_>, at: usize) -> Result<(Shape, f64), Fault> {
    let radius = length(args, at, "ERR need numeric radius")?;
    if radius < 0.0 {
        return Err(Fault::new("ERR radius cannot be negative"));
    }
    let unit = unit(args.get(at.saturating_add(1)).ok_or(Fault::SYNTAX)?)?;
    Ok((Shape::Circle { radius: radius * unit }, unit))
}

/// Width, height and their unit.
fn rectangle(args: Args<'_>, at: usize) -> Result<(Shape, f64), Fault> {
    let width = length(args, at, "ERR need numeric width")?;
    let height = length(args, at.saturating_add(1), "ERR need numeric height")?;
    if width < 0.0 || height < 0.0 {
        return Err(Fault::new("ERR height or width cannot be negative"));
    }
    let unit = unit(args.get(at.saturating_add(2)).ok_or(Fault::SYNTAX)?)?;
    Ok((Shape::Box { width: width * unit, height: height * unit }, unit))
}

fn length(args: Args<'_>, at: usize, problem: &'static str) -> Result<f64, Fault> {
    args.get(at).and_then(double::parse).ok_or(Fault::new(problem))
}

/// `BYPOLYGON` with the number of corners, and the corners.
fn polygon(args: Args<'_>) -> Result<Vec<Place>, Fault> {
    let count = parse_i64(args.arg(1)).and_then(|count| i32::try_from(count).ok());
    let count = count.ok_or(Fault::new("ERR invalid number of vertices"))?;
    let most = args.len().saturating_sub(2) / 2;
    let count = usize::try_from(count).ok().filter(|count| (3..=most).contains(count));
    let text = "ERR GEOSEARCH BYPOLYGON must have at least 3 vertices";
    let count = count.ok_or(Fault::new(text))?;
    let corner = |index: usize| place_at(args, index.saturating_mul(2).saturating_add(2));
    (0..count).map(corner).collect()
}
