use jiff::civil::date;
use proptest::prelude::*;

use super::*;

/// Checks a text against its first and last day.
fn check(text: &str, from: u32, to: u32) {
    check_ordered(text, None, from, to);
}

fn check_ordered(text: &str, order: Option<DateOrder>, from: u32, to: u32) {
    let read = parse(text, order).map(|interval| (interval.from_number(), interval.to_number()));
    assert_eq!(read, Some((from, to)), "{text}");
}

fn check_day(text: &str) {
    check(text, 18500303, 18500303);
}

#[test]
fn year_month_and_day_are_read_as_their_days() {
    check("1850", 18500101, 18501231);
    check("Mar 1850", 18500301, 18500331);
    check("Feb. 1848", 18480201, 18480229);
    check("1850-03", 18500301, 18500331);
    check("03/1850", 18500301, 18500331);
    check("987", 9870101, 9871231);
    check("0087", 870101, 871231);
    for text in [
        "3 Mar 1850",
        "3 March 1850",
        "March 3, 1850",
        "Mar. 3rd, 1850",
        "1850 Mar 3",
        "3-Mar-1850",
        "3/Mar/1850",
        "3Mar1850",
        "1850-03-03",
        "1850/03/03",
        "1850.3.3",
        "3/3/1850",
        "3.3.1850",
        "03. 03. 1850",
        "the 3rd of March, 1850",
        "1850-Mar-3",
    ] {
        check_day(text);
    }
}

#[test]
fn months_of_every_language_are_read() {
    for text in [
        "3. März 1850",
        "den 3ten Maerz 1850",
        "3. Mrz. 1850",
        "3 mars 1850",
        "le 3 mars 1850",
        "3 maart 1850",
        "3 mrt. 1850",
        "3 de marzo de 1850",
        "die 3 Martii 1850",
        "3 martii anno domini 1850",
        "3 Mawrth 1850",
        "3 marca 1850 roku",
        "1850. március 3.",
        "3.III.1850",
        "3 III 1850",
    ] {
        check_day(text);
    }
    check("1er févr. 1850", 18500201, 18500201);
    check("7ber 1850", 18500901, 18500930);
    check("4 Xbris 1850", 18501204, 18501204);
    check("10 8bre 1850", 18501010, 18501010);
    check("12 Gorff 1850", 18500712, 18500712);
    check("ene. 1850", 18500101, 18500131);
    check("Jänner 1850", 18500101, 18500131);
    check("Ma\u{308}rz 1850", 18500301, 18500331);
}

#[test]
fn ranges_reach_from_the_first_to_the_last_day() {
    for text in [
        "1850-1855",
        "1850 – 1855",
        "1850-55",
        "bet 1850 and 1855",
        "between 1850 - 1855",
        "from 1850 to 1855",
        "zwischen 1850 und 1855",
        "entre 1850 et 1855",
        "entre 1850 y 1855",
        "tussen 1850 en 1855",
        "von 1850 bis 1855",
        "1850 to 1855",
        "BET. 1850 AND 1855",
    ] {
        check(text, 18500101, 18551231);
    }
    check("Mar 1850 - Apr 1851", 18500301, 18510430);
    check("1850-03-03 - 1850-04-01", 18500303, 18500401);
    check("1850-03-03-1850-04-01", 18500303, 18500401);
    check("from 3 Mar 1850 to 1855", 18500303, 18551231);
    check("bet abt 1850 and 1855", 18480101, 18551231);
    check("1899-1900", 18990101, 19001231);
    // Two figures after a year are a month, if there is such a month.
    check("1901-05", 19010501, 19010531);
}

#[test]
fn qualifiers_widen_the_interval() {
    for text in
        ["abt 1838", "about 1838", "circa 1838", "ca 1838", "ca. 1838", "c 1838", "c1838", "c.1838", "~1838", "~ 1838"]
    {
        check(text, 18360101, 18401231);
    }
    for text in ["um 1838", "etwa 1838", "vers 1838", "omstreeks 1838", "hacia 1838", "alrededor de 1838"] {
        check(text, 18360101, 18401231);
    }
    check("cal 1838", 18370101, 18391231);
    check("est. 1838", 18330101, 18431231);
    check("bef 1850", 18400101, 18501231);
    check("before 3 Mar 1850", 18400101, 18500303);
    check("aft 1850", 18500101, 18601231);
    check("after Mar 1850", 18500301, 18601231);
    check("abt Mar 1850", 18480301, 18520331);
    check("abt 29 Feb 1848", 18460228, 18500228);
    check("abt 1850-1855", 18480101, 18571231);
    check("vor 1850", 18400101, 18501231);
    check("nach 1850", 18500101, 18601231);
    check("bef 0005", 10101, 51231);
    check("aft 9995", 99950101, 99991231);
}

#[test]
fn double_year_is_both_years() {
    for text in ["1759/60", "1759/1760"] {
        check(text, 17590101, 17601231);
    }
    check("1708/9", 17080101, 17091231);
    check("1699/00", 16990101, 17001231);
    check("3 Feb 1759/60", 17590203, 17600203);
    check("Feb 1759/60", 17590201, 17600229);
    check("February 3, 1759/60", 17590203, 17600203);
    check("3/3/1759/60", 17590303, 17600303);
    check("29 Feb 1759/60", 17600229, 17600229);
    check("abt 1759/60", 17570101, 17621231);
    check("1911/12", 19110101, 19121231);
    check("1850/03", 18500301, 18500331);
}

#[test]
fn date_in_figures_is_read_in_the_order_of_its_column() {
    check("2/3/1900", 19000203, 19000302);
    check("2-3-1900", 19000203, 19000302);
    check_ordered("2/3/1900", Some(DateOrder::DayMonthYear), 19000302, 19000302);
    check_ordered("2/3/1900", Some(DateOrder::MonthDayYear), 19000203, 19000203);
    check_ordered("2/3/1900", Some(DateOrder::YearMonthDay), 19000203, 19000302);
    check_ordered("1900-03-02", Some(DateOrder::MonthDayYear), 19000302, 19000302);
    check("13/3/1900", 19000313, 19000313);
    check("3/13/1900", 19000313, 19000313);
    check("2.3.1900", 19000302, 19000302);
    check_ordered("2.3.1900", Some(DateOrder::MonthDayYear), 19000203, 19000203);
    assert_eq!(parse("3/13/1900", Some(DateOrder::DayMonthYear)), None);
}

#[test]
fn text_that_is_no_date_is_not_understood() {
    for text in [
        "",
        " ",
        "next year",
        "12",
        "1",
        "00",
        "0",
        "0000",
        "000",
        "12345",
        "31 Feb 1850",
        "29 Feb 1850",
        "31/2/1850",
        "1850-13-01",
        "1850-00",
        "0 Mar 1850",
        "32 Mar 1850",
        "Mar",
        "3 Mar",
        "Mar 50",
        "1855-1850",
        "bet 1850",
        "from 1850",
        "to 1850",
        "bet 1850 and",
        "abt",
        "abt abt 1850",
        "bef bef 1850",
        "1759/61",
        "1759/1761",
        "1850s",
        "1850?",
        "[1850]",
        "1850 1851",
        "Mar 1850 1851",
        "Mar Apr 1850",
        "Juin Juillet",
        "jui 1850",
        "3/3-1850",
        "1850-03-03-",
        "-1850",
        "65536",
        "99999999999999999999",
        "１８５０",
        "東京",
        "1850 \u{0}",
        "O'Brien",
        "1850/60/70",
        "3 Mar 1850/1850",
        "v. 1850",
        "x 1850",
        "III 1850",
        "1850~03",
        "2~3~1900",
        "~",
        "1850~",
        "Mar-Mar-1850",
    ] {
        assert_eq!(parse(text, None), None, "{text}");
    }
}

#[test]
fn text_of_thousands_of_characters_is_not_understood() {
    for part in ["1850 ", "a", "- ", "é", "\u{301}"] {
        assert_eq!(parse(&part.repeat(10_000), None), None);
    }
}

#[test]
fn decades_are_those_an_interval_touches_and_at_most_three() {
    let touched = |text| {
        let interval = parse(text, None).unwrap();
        decades(interval.from_number(), interval.to_number()).collect::<Vec<_>>()
    };
    assert_eq!(touched("abt 1838"), [1830, 1840]);
    assert_eq!(touched("1841"), [1840]);
    assert_eq!(touched("1850-1855"), [1850]);
    assert_eq!(touched("1800-1899"), [1800, 1810, 1820]);
    assert_eq!(touched("0005"), [0]);
}

/// A day in one of the spellings that are read.
fn spelled() -> impl Strategy<Value = (String, Date)> {
    let day = (1..=9999_i16, 1..=12_i8, 1..=31_i8).prop_filter_map("no such day", |(y, m, d)| Date::new(y, m, d).ok());
    (day, 0..11_usize, any::<prop::sample::Index>()).prop_map(|(day, style, name)| {
        let (y, m, d) = (format!("{:04}", day.year()), day.month(), day.day());
        let names: Vec<_> = months::names(m).collect();
        let name = name.get(&names);
        let numeral = months::NUMERALS[usize::try_from(m - 1).unwrap()].to_uppercase();
        let text = match style {
            0 => format!("{d} {name} {y}"),
            1 => format!("{name} {d}, {y}"),
            2 => format!("{y} {name} {d}"),
            3 => format!("{d}. {}. {y}", name.to_uppercase()),
            4 => format!("{d}-{name}-{y}"),
            5 => day.to_string(),
            6 => format!("{d}.{m}.{y}"),
            7 => format!("{y}/{m:02}/{d:02}"),
            8 => format!("{d}.{numeral}.{y}"),
            9 => format!("{y}. {numeral}. {d}."),
            _ => format!("den {d} {name} anno {y}"),
        };
        (text, day)
    })
}

proptest! {
    #[test]
    fn every_spelling_of_a_day_is_read_as_that_day((text, day) in spelled()) {
        prop_assert_eq!(parse(&text, None), Interval::new(day, day), "{}", text);
    }

    #[test]
    fn every_range_of_two_days_is_read_in_order((first, from) in spelled(), (last, to) in spelled()) {
        for text in [format!("{first} - {last}"), format!("bet {first} and {last}"), format!("from {first} to {last}")] {
            prop_assert_eq!(parse(&text, None), Interval::new(from, to), "{}", text);
        }
    }

    #[test]
    fn every_interval_is_ordered_and_within_the_years(
        text in "(abt|bef|aft|est|~|bet|from)? ?[0-9]{1,4}([-/. ][0-9]{1,4}){0,4}( ?(and|to|-) ?[0-9]{1,4})?"
    ) {
        for order in [None, Some(DateOrder::DayMonthYear), Some(DateOrder::MonthDayYear)] {
            if let Some(interval) = parse(&text, order) {
                prop_assert!(date(1, 1, 1) <= interval.from());
                prop_assert!(interval.from() <= interval.to());
                prop_assert!(interval.to() <= date(9999, 12, 31));
                prop_assert!(decades(interval.from_number(), interval.to_number()).count() <= MAX_DECADES);
            }
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,60}") {
        let _ = parse(&text, None);
    }

    #[test]
    fn no_mix_of_words_and_signs_panics(words in prop::collection::vec(
        prop::sample::select(vec![
            "abt", "bef", "aft", "bet", "and", "from", "to", "-", "/", ".", "~", ",", "1850", "3", "31", "Feb", "martii", "7ber",
            "0", "9999", "0001", "65535", "65536", " ", "of", "é", "\u{301}", "st",
        ]),
        0..30,
    )) {
        let _ = parse(&words.concat(), None);
        let _ = parse(&words.join(" "), None);
    }
}
