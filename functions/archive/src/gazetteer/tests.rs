use super::*;

const NOW: &str = "2026-01-01T00:00:00.000000Z";

fn extract() -> Gazetteer {
    Gazetteer::from_lines(include_str!("extract.tsv")).unwrap()
}

fn find<'a>(places: &'a [Place], full_name: &str) -> &'a Place {
    places.iter().find(|place| place.full_name == full_name).unwrap()
}

#[test]
fn places_have_stable_ids_and_come_after_their_parents() {
    let places = extract().places(NOW).unwrap();
    let bala = find(&places, "Bala, Wales, United Kingdom");
    let (wales, kingdom) = (find(&places, "Wales, United Kingdom"), find(&places, "United Kingdom"));
    assert_eq!((bala.id.to_string().as_str(), kingdom.id.to_string().as_str()), ("9002656615", "9002635167"));
    assert_eq!(wales.id.to_string(), "8075809337");
    assert_eq!(bala.path, [kingdom.id, wales.id, bala.id]);
    assert_eq!((bala.level, bala.kind, bala.parent_id), (3, PlaceType::Settlement, Some(wales.id)));
    assert_eq!((bala.country.as_deref(), bala.weight), (Some("GB"), 1974));
    assert_eq!((bala.lat.as_deref(), bala.lon.as_deref()), (Some("52.91111"), Some("-3.59722")));
    assert_eq!(bala.folded_full_name.as_deref(), Some("bala, wales, united kingdom"));
    let at = |id| places.iter().position(|place| place.id == id).unwrap();
    assert!(places.iter().all(|place| place.parent_id.is_none_or(|parent| at(parent) < at(place.id))));
}

#[test]
fn city_without_a_division_is_in_its_country() {
    let text = "SG\t1880251\tSingapore\t5638676\n1880252\tQueenstown\tSG.00\t1.3\t103.8\t96000\n";
    let places = Gazetteer::from_lines(text).unwrap().places(NOW).unwrap();
    assert_eq!(find(&places, "Queenstown, Singapore").level, 2);
}

#[test]
fn alternative_names_that_say_nothing_new_are_dropped() {
    let text = "SG\t1\tA\t5\n2\tSaint-Denis\tSG.00\t1\t2\t3\tSt Denis\tSAINT DENIS\t—\tSt. Denis\n";
    let places = Gazetteer::from_lines(text).unwrap().places(NOW).unwrap();
    assert_eq!(find(&places, "Saint-Denis, A").alt_names, ["St Denis"]);
}

#[test]
fn lines_are_read_back() {
    let gazetteer = extract();
    let lines = gazetteer.to_lines();
    assert_eq!(Gazetteer::from_lines(&lines).unwrap(), gazetteer);
    assert_eq!(lines, include_str!("extract.tsv"));
    let error = Gazetteer::from_lines("SG\t1\tA\t5\nSG.00\tB\n").unwrap_err().to_string();
    assert!(error.contains("line 2"), "{error}");
}

#[test]
fn division_weighs_the_sum_of_its_cities() {
    let countries = br#"{"GB": {"geonameid": 2635167, "name": "United Kingdom", "population": 66488991, "iso": "GB"}}"#;
    let divisions = br#"[{"code": "GB.WLS", "name": "Wales"}]"#;
    let cities = r#"{
        "2656615": {"geonameid": 2656615, "name": "Bala", "latitude": 52.91111, "longitude": -3.59722,
            "countrycode": "GB", "admin1code": "WLS", "population": 1974, "alternatenames": ["Y Bala"]},
        "2651154": {"geonameid": 2651154, "name": "Dolgellau", "latitude": 52.74222, "longitude": -3.88611,
            "countrycode": "GB", "admin1code": "WLS", "population": 2688, "alternatenames": []}
    }"#;
    let files = Files { countries, cities: cities.as_bytes() };
    let mut gazetteer = Gazetteer::from_files(files, division_names(divisions).unwrap()).unwrap();
    gazetteer.keep(2000, &BTreeSet::new());
    let places = gazetteer.places(NOW).unwrap();
    assert_eq!(places.len(), 3);
    assert_eq!(find(&places, "Wales, United Kingdom").weight, 4662);
    assert_eq!(find(&places, "Dolgellau, Wales, United Kingdom").lat.as_deref(), Some("52.74222"));
}

#[test]
fn divisions_with_the_same_id_stop_the_load() {
    // The two codes have the same last digits of their digests.
    let [one, other] = collision();
    let text = format!("A\t1\tA\t0\n{one}\tB\t0\n{other}\tC\t0\n");
    let error = Gazetteer::from_lines(&text).unwrap().places(NOW).unwrap_err();
    assert!(matches!(error, GazetteerError::Collision { .. }), "{error}");
}

/// Finds two codes whose divisions have the same id.
fn collision() -> [String; 2] {
    let mut seen = std::collections::HashMap::new();
    let found = (0..).find_map(|number| {
        let code = format!("A.{number}");
        Some([seen.insert(division_id(&code).unwrap(), code.clone())?, code])
    });
    found.unwrap()
}
