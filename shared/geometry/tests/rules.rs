//! Each rule by its number: the repairs, and the faults with their pointers.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests say what they expect by it")]

use geometry::{Checked, InvalidShape, Kind, Limits, Shape, ShapeType, check, check_value};

fn boundary(document: &str) -> Result<Checked, InvalidShape> {
    check(document.as_bytes(), Kind::Boundary, &Limits::UPLOAD)
}

fn polygon(coordinates: &str) -> Result<Checked, InvalidShape> {
    boundary(&format!(r#"{{"type":"Polygon","coordinates":{coordinates}}}"#))
}

fn multi(coordinates: &str) -> Result<Checked, InvalidShape> {
    boundary(&format!(r#"{{"type":"MultiPolygon","coordinates":{coordinates}}}"#))
}

fn repairs(result: Result<Checked, InvalidShape>) -> Vec<&'static str> {
    let checked = result.unwrap_or_else(|refused| panic!("{refused:?}"));
    let again = check(checked.shape.canonical().as_bytes(), Kind::Any, &Limits::UPLOAD).unwrap();
    assert_eq!((again.shape, again.repairs.len()), (checked.shape, 0), "the check keeps the canonical form");
    checked.repairs.into_iter().map(|repair| repair.as_str()).collect()
}

fn pointers(result: Result<Checked, InvalidShape>) -> Vec<String> {
    result.unwrap_err().faults.into_iter().map(|fault| fault.pointer).collect()
}

const SQUARE: &str = "[[0,0],[9,0],[9,9],[0,9],[0,0]]";

#[test]
fn rule_1_other_type_or_reference_system_is_refused() {
    let square = format!(r#"{{"type":"Polygon","coordinates":[{SQUARE}]}}"#);
    assert!(check(square.as_bytes(), Kind::Any, &Limits::BODY).is_ok());
    for kind in [Kind::Path, Kind::Location] {
        assert_eq!(pointers(check(square.as_bytes(), kind, &Limits::BODY)), ["/type"]);
    }
    assert_eq!(pointers(boundary(r#"{"type":"GeometryCollection","geometries":[]}"#)), ["/type"]);
    assert_eq!(pointers(boundary(r#"{"type":"MultiPoint","coordinates":[[0,0]]}"#)), ["/type"]);
    let with_crs = |crs: &str| format!(r#"{{"crs":{crs},"type":"Polygon","coordinates":[{SQUARE}]}}"#);
    assert_eq!(repairs(boundary(&with_crs(r#""EPSG:4326""#))), ["crs"]);
    assert_eq!(pointers(boundary(&with_crs(r#""EPSG:3857""#))), ["/crs"]);
}

#[test]
fn document_is_a_geometry_a_feature_or_a_collection_of_one_feature() {
    let broken = r#"{"coordinates":[[[0,0],[1,91],[1,1],[0,0]]],"type":"Polygon"}"#;
    let feature = format!(r#"{{"geometry":{broken},"properties":{{"a":[1]}},"type":"Feature"}}"#);
    let one = format!(r#"{{"type":"FeatureCollection","features":[{feature}]}}"#);
    let two = format!(r#"{{"type":"FeatureCollection","features":[{feature},{feature}]}}"#);
    assert_eq!(pointers(boundary(broken)), ["/coordinates/0/1"]);
    assert_eq!(pointers(boundary(&feature)), ["/geometry/coordinates/0/1"]);
    assert_eq!(pointers(boundary(&one)), ["/features/0/geometry/coordinates/0/1"]);
    assert_eq!(pointers(boundary(&two)), ["/features", "/features/0/geometry/coordinates/0/1"]);
    assert_eq!(pointers(boundary(r#"{"type":"Feature","geometry":null}"#)), ["/geometry"]);
    assert_eq!(pointers(boundary(r#"{"type":"Feature"}"#)), ["/geometry"]);
    assert_eq!(pointers(boundary(r#"{"coordinates":[]}"#)), ["/type"]);
    assert_eq!(
        pointers(boundary(r#"{"type":"Polygon","type":"Polygon","coordinates":[[]]}"#)),
        ["/type", "/coordinates/0"]
    );
    let parsed: serde_json::Value = serde_json::from_str(&feature).unwrap();
    assert_eq!(pointers(check_value(&parsed, Kind::Boundary, &Limits::BODY)), ["/geometry/coordinates/0/1"]);
    // A number is read as the same double from text and from a parsed value.
    let point = r#"{"type":"Point","coordinates":[-122.41941550000001,37.774929499999993]}"#;
    let parsed: serde_json::Value = serde_json::from_str(point).unwrap();
    let of_value = check_value(&parsed, Kind::Location, &Limits::BODY).unwrap();
    assert_eq!(of_value, check(point.as_bytes(), Kind::Location, &Limits::BODY).unwrap());
}

#[test]
fn invalid_json_or_position_is_a_fault_at_its_pointer() {
    for (document, pointer) in [
        ("", ""),
        ("[1]", ""),
        ("{\"type\":\"Polygon\",\"coordinates\":[[[0,0],[1,0", "/coordinates/0/1"),
        (r#"{"type":"Polygon","coordinates":[[[0,0],[1,x]]]}"#, "/coordinates/0/1"),
    ] {
        assert_eq!(pointers(boundary(document)), [pointer], "{document}");
    }
    assert_eq!(pointers(check(b"{\"type\":\"\xff\"}", Kind::Any, &Limits::BODY)), [""]);
    let faults = pointers(polygon(
        r#"[[[0,0],[1e400,0],["1",0],[NaN,0],[null,0],[1],[1,2,3,4],[1,2,3],[[1,2]],7,[0,0]],{"a":1},[]]"#,
    ));
    let expected: Vec<_> = (1..=9).map(|at| format!("/coordinates/0/{at}")).collect();
    assert_eq!(faults[..9], expected);
    assert_eq!(faults[9..], ["/coordinates/1", "/coordinates/2"]);
}

#[test]
fn rule_2_altitude_is_kept_and_interpolated_at_the_antimeridian() {
    let checked = polygon("[[[170,0,100],[-170,0,200],[-170,10,200],[170,10,100],[170,0,100]]]").unwrap();
    assert!(checked.shape.canonical().contains("[180,0,150]"));
    assert!(!checked.shape.search_form().unwrap().contains("150"));
}

#[test]
fn rule_3_coordinate_out_of_range_is_snapped_or_shifted_or_refused() {
    assert_eq!(
        repairs(polygon("[[[170,0],[180.0000000000002,0],[180.0000000000002,9],[170,9],[170,0]]]")),
        ["snapped"]
    );
    let beyond = polygon("[[[190,0],[200,0],[200,9],[190,9],[190,0]]]").unwrap();
    assert_eq!(beyond.shape.envelope().to_array(), [-170.0, 0.0, -160.0, 9.0]);
    assert_eq!(repairs(Ok(beyond)), ["shifted"]);
    let refused = polygon("[[[49,-123],[361,0],[0,90.1],[49,-123]]]").unwrap_err();
    let details: Vec<_> = refused.faults.iter().map(|fault| fault.detail.as_str()).collect();
    assert!(details[0].contains("look swapped") && details[1].contains("longitude") && details[2].contains("latitude"));
    let point = check(br#"{"type":"Point","coordinates":[190,-0.0]}"#, Kind::Location, &Limits::BODY).unwrap();
    assert_eq!(point.shape.canonical(), r#"{"type":"Point","coordinates":[-170,0]}"#);
}

#[test]
fn rule_4_gap_and_repeats_are_repaired_and_ring_without_area_is_refused() {
    assert_eq!(repairs(polygon("[[[0,0],[9,0],[9,9],[0.00000005,0]]]")), ["closed"]);
    assert_eq!(repairs(polygon("[[[0,0],[0,0],[9,0],[9,9],[9,9],[0,0],[0,0]]]")), ["repeats"]);
    for ring in ["[[0,0],[9,0],[9,9],[0.000001,0]]", "[[0,0],[9,0],[0,0]]", "[[0,0],[3,3],[9,9],[0,0]]", "[[0,0]]"] {
        assert_eq!(pointers(polygon(&format!("[{ring}]"))), ["/coordinates/0"], "{ring}");
    }
    let path = |coordinates: &str| {
        let document = format!(r#"{{"type":"LineString","coordinates":{coordinates}}}"#);
        check(document.as_bytes(), Kind::Path, &Limits::BODY)
    };
    assert_eq!(pointers(path("[[1,1],[1,1]]")), ["/coordinates"]);
    assert!(repairs(path("[[0,0],[9,9],[9,0],[0,9],[0,0]]")).is_empty());
}

#[test]
fn rule_5_ring_with_wrong_winding_is_reversed() {
    let hole = "[[2,2],[3,2],[3,3],[2,2]]";
    assert_eq!(repairs(polygon(&format!("[{SQUARE},{hole}]"))), ["winding"]);
    assert_eq!(repairs(polygon(&format!("[{SQUARE},[[2,2],[3,3],[3,2],[2,2]]]"))), [] as [&str; 0]);
}

#[test]
fn rule_6_self_intersecting_ring_is_refused_at_the_later_edge() {
    for (ring, at) in [
        ("[[0,0],[4,4],[4,0],[0,4],[0,0]]", 3),
        ("[[0,0],[4,0],[4,4],[2,0],[0,4],[0,0]]", 3),
        ("[[0,0],[4,0],[2,2],[4,4],[0,4],[2,2],[0,0]]", 5),
        ("[[0,0],[4,0],[4,4],[4,2],[0,4],[0,0]]", 3),
    ] {
        assert_eq!(pointers(polygon(&format!("[{ring}]"))), [format!("/coordinates/0/{at}")], "{ring}");
    }
}

#[test]
fn rule_7_hole_outside_its_shell_or_in_another_hole_is_refused() {
    let with = |holes: &str| pointers(polygon(&format!("[{SQUARE},{holes}]")));
    assert_eq!(with("[[20,2],[20,3],[21,3],[20,2]]"), ["/coordinates/1"]);
    assert_eq!(with("[[8,2],[8,3],[21,3],[8,2]]"), ["/coordinates/1"]);
    assert_eq!(with("[[1,1],[1,8],[8,8],[8,1],[1,1]],[[3,3],[3,4],[4,4],[3,3]]"), ["/coordinates/2"]);
    assert_eq!(with("[[1,1],[1,4],[4,4],[1,1]],[[3,2],[3,6],[6,6],[3,2]]"), ["/coordinates/2"]);
    assert_eq!(with("[[0,2],[0,3],[4,3],[0,2]]"), ["/coordinates/1"]);
    assert_eq!(with("[[0,4],[4,9],[4,4],[0,4]]"), ["/coordinates/1"], "the interior is cut in two");
    assert!(polygon(&format!("[{SQUARE},[[0,4],[4,8],[4,4],[0,4]],[[4,4],[5,5],[5,4],[4,4]]]")).is_ok());
}

#[test]
fn rule_8_parts_that_share_area_or_an_edge_are_refused() {
    let parts = |other: &str| multi(&format!("[[{SQUARE}],[{other}]]"));
    assert_eq!(pointers(parts("[[8,8],[12,8],[12,12],[8,8]]")), ["/coordinates/1"]);
    assert_eq!(pointers(parts("[[2,2],[3,2],[3,3],[2,2]]")), ["/coordinates/1"]);
    assert_eq!(pointers(parts("[[9,2],[12,2],[9,5],[9,2]]")), ["/coordinates/1"]);
    assert_eq!(pointers(parts("[[-1,-1],[20,-1],[20,20],[-1,20],[-1,-1]]")), ["/coordinates/1"]);
    assert!(repairs(parts("[[9,9],[12,9],[12,12],[9,9]]")).is_empty());
    assert!(parts("[[9,5],[12,4],[12,6],[9,5]]").is_ok(), "a corner touches an edge");
}

#[test]
fn rule_9_line_or_ring_across_the_antimeridian_is_split() {
    let path = check(br#"{"type":"LineString","coordinates":[[170,0],[-170,10]]}"#, Kind::Path, &Limits::BODY).unwrap();
    assert_eq!(
        path.shape.canonical(),
        r#"{"type":"MultiLineString","coordinates":[[[170,0],[180,5]],[[-180,5],[-170,10]]]}"#
    );
    assert_eq!(repairs(Ok(path)), ["cut"]);
    let band = "[[[-180,-10],[180,-10],[180,10],[-180,10],[-180,-10]]]";
    assert!(repairs(polygon(band)).is_empty(), "as drawn");
    let world = "[[[-180,-90],[180,-90],[180,90],[-180,90],[-180,-90]]]";
    assert!(repairs(polygon(world)).is_empty(), "as drawn");
    let hole = "[[[170,0],[-170,0],[-170,10],[170,10],[170,0]],[[175,4],[175,6],[-175,6],[-175,4],[175,4]]]";
    let checked = polygon(hole).unwrap();
    assert_eq!((checked.shape.parts(), checked.shape.rings()), (2, 2));
    assert_eq!(repairs(Ok(checked)), ["cut"]);
}

#[test]
fn rule_10_ring_around_the_globe_is_closed_around_the_pole_of_its_hemisphere() {
    let both = "[[[-150,-5],[-30,5],[90,-5],[-150,-5]]]";
    assert_eq!(pointers(polygon(both)), ["/coordinates/0"]);
    let north = polygon("[[[-120,80],[0,70],[120,80],[-120,80]]]").unwrap();
    assert_eq!(north.shape.envelope().to_array(), [-180.0, 70.0, 180.0, 90.0]);
    assert_eq!(repairs(Ok(north)), ["pole"]);
}

#[test]
fn rule_11_document_beyond_a_limit_is_refused_as_too_large() {
    let limits = Limits { bytes: 400, positions: 8, parts: 1, rings: 2, depth: 8 };
    let refused = |document: &str| {
        let refused = check(document.as_bytes(), Kind::Boundary, &limits).unwrap_err();
        assert!(refused.too_large, "{refused:?}");
        refused.faults.last().unwrap().pointer.clone()
    };
    let many = format!(r#"{{"type":"Polygon","coordinates":[[{}]]}}"#, vec!["[0,0]"; 20].join(","));
    assert_eq!(refused(&many), "/coordinates/0/8");
    let triangle = "[[0,0],[1,0],[0,0]]";
    assert_eq!(refused(r#"{"type":"Polygon","coordinates":[[[0,0]],[[0,0]],[[0,0]]]}"#), "/coordinates/2");
    assert_eq!(
        refused(&format!(r#"{{"type":"MultiPolygon","coordinates":[[{triangle}],[{triangle}]]}}"#)),
        "/coordinates/1"
    );
    assert_eq!(refused(r#"{"type":"Polygon","coordinates":[[[[[[[[[0]]]]]]]]]}"#), "/coordinates/0/0");
    assert_eq!(refused(&" ".repeat(401)), "");
    // Positions that a split adds, and digits that exponents hide, count as well.
    let cut = r#"{"type":"Polygon","coordinates":[[[170,0],[-170,0],[-170,1],[170,1],[170,0]]]}"#;
    assert_eq!(refused(cut), "/coordinates");
    let long = r#"{"type":"Polygon","coordinates":[[[0,0,1e200],[1,0,1e200],[1,1,1e200],[0,0,1e200]]]}"#;
    assert_eq!(refused(long), "/coordinates");
}

#[test]
fn stitched_rings_are_accepted() {
    let island = polygon("[[[179,-16],[180,-16],[-180,-16],[-179,-17],[-180,-17.5],[180,-17.5],[179,-16]]]").unwrap();
    assert_eq!(island.shape.envelope().to_array(), [179.0, -17.5, -179.0, -16.0]);
    let one_side = polygon("[[[179,-16],[180,-16],[-180,-17],[179,-17],[179,-16]]]").unwrap();
    assert_eq!((one_side.shape.parts(), one_side.shape.envelope().to_array()), (1, [179.0, -17.0, 180.0, -16.0]));
    // Stitched: it runs from -180 to 180, and its first and last position are one point. It dips south of their latitude.
    let stitched = polygon("[[[-180,-84],[-170,-85],[-90,-73],[0,-70],[90,-66],[180,-84],[-180,-84]]]").unwrap();
    assert_eq!(stitched.shape.envelope().to_array(), [-180.0, -90.0, 180.0, -66.0]);
    // The same as two rings, the inner one close around the pole.
    let inner = "[[-180,-89.999],[90,-89.999],[0,-89.999],[-90,-89.999],[-180,-89.999]]";
    let coast = "[[-180,-84],[-170,-85],[-90,-73],[0,-70],[90,-66],[170,-80],[-180,-84]]";
    let two = polygon(&format!("[{inner},{coast}]")).unwrap();
    assert_eq!((two.shape.shape_type(), two.shape.rings()), (ShapeType::Polygon, 1));
    assert_eq!(two.shape.envelope().to_array(), [-180.0, -89.999, 180.0, -66.0]);
}

#[test]
fn canonical_form_is_parsed_to_the_same_shape() {
    for document in [
        r#"{"type":"Point","coordinates":[1.5,-2,3]}"#,
        r#"{"type":"MultiLineString","coordinates":[[[0,0],[1,1]],[[2,2],[3,3]]]}"#,
        r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[0,1],[0,0]]],[[[5,5],[6,5],[5,6],[5,5]]]]}"#,
    ] {
        let shape = Shape::parse_canonical(document).unwrap();
        assert_eq!(shape.canonical(), document);
        assert_eq!(shape.sha256(), geometry::sha256(document.as_bytes()));
    }
    assert!(Shape::parse_canonical(r#"{"type":"Point"}"#).is_err());
}
