//! Pages of strangers, and what becomes of them.

use reqwest::Url;

use super::*;

fn base() -> Url {
    Url::parse("https://a.test/b/c.html").expect("an address")
}

fn of(html: &str) -> String {
    markdown(html, &base())
}

#[test]
fn a_page_is_markdown_with_whole_addresses() {
    let html = "<!doctype html><title>T</title><style>p{}</style><nav><a href=../x>X</a></nav>\
        <h2>Table</h2><table><tr><th>a<th>b<tr><td>1<td>2</table><pre><code class=language-rust>let a = 1;\n</code></pre>\
        <p>an <em>em</em> &amp; <code>code</code><br>second <img src=i.png alt=I> <a href='javascript:x()'>no</a>";
    let expected = "[X](https://a.test/x)\n\n## Table\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```rust\nlet a = 1;\n```\n\n\
        an *em* & `code`  \nsecond ![I](https://a.test/b/i.png) no";
    let lines = |text: &str| text.lines().map(|it| it.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(&of(html)), lines(expected));
}

#[test]
fn what_no_reader_sees_no_model_reads() {
    let html = "<p>seen<span hidden>a</span><span style='display : none'>b</span><!-- c --><template>d</template>\
        <div style='color:red;VISIBILITY:hidden'>e</div><noscript>f</noscript><svg><title>g</title></svg><script>h</script>";
    for text in [of(html), words(html)] {
        let seen: Vec<char> = text.chars().filter(|it| "abcdf h".contains(*it)).collect();
        assert!(seen.is_empty(), "{text}");
        assert!(text.starts_with("seen"), "{text}");
    }
}

#[test]
fn links_are_whole_and_each_is_there_once() {
    let html = "<base href='https://b.test/d/'><a href=e>one [1]</a><a href=e>again</a><a href='mailto:x@y'>mail</a>\
        <a name=top>none</a><a href='//c.test'><img alt=p></a>";
    assert_eq!(links(html, &base()), "[one 1](https://b.test/d/e)\n[](https://c.test/)");
    let many: String = (0..MOST_LINKS + 2).map(|it| format!("<a href=/{it}>{it}</a>")).collect();
    assert!(links(&many, &base()).ends_with("(2 more links are left out)"));
}

#[test]
fn links_within_each_other_do_not_repeat_their_text() {
    let open: String = (0..60).map(|it| format!("<a href=/{it}><marquee>")).collect();
    let html = open + &"word ".repeat(10_000);
    let listed = links(&html, &base());
    assert_eq!(listed.lines().count(), 60);
    assert!(listed.len() <= html.len(), "{}", listed.len());
}

#[test]
fn a_table_has_all_its_rows_and_cells() {
    let html = "<table><caption>c</caption><thead><tr><th>a</th></tr></thead>\
        <tbody><tr><th>b</th><td>1</td></tr><tr><td>x|y<br>z</td></tr></tbody><tfoot><tr><td>d</td></tr></tfoot></table>";
    let expected = "c\n| a |  |\n| --- | --- |\n| b | 1 |\n| x&#124;y   z |\n| d |";
    assert_eq!(of(html), expected);
    assert_eq!(of("<table><tr><td>a<td>b</table>"), "a\n\nb");
}

/// Returns a page in which each round leaves many elements open, because the parser ignores end tags of `name` within `holder`.
fn held_open(name: &str, holder: &str) -> String {
    let round = |count| {
        let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
        format!("{}<{holder}>{}", begin.repeat(count), end.repeat(count))
    };
    (0..199).map(|it| round(199 - it)).collect()
}

/// Each of these takes hours, or all of the stack or the memory, where the limits are left out.
#[test]
fn pages_that_are_made_to_take_long_do_not() {
    let mega = |part: &str| part.repeat(400_000 / part.len());
    for (what, html) in [
        ("angle brackets", "<".repeat(200_000)),
        ("deep blocks", mega("<div>")),
        ("deep tables", "<table><tr><td>".repeat(10_000) + "deep" + &"</table>".repeat(10_000)),
        ("deep marks", mega("<b>x")),
        ("deep lists", mega("<ul><li>")),
        ("deep cells of a picture", mega("<svg><td>")),
        ("deep quotes", mega("<blockquote>x")),
        ("siblings", mega("<b>x</b>")),
        (
            "attributes",
            format!("<p {}>", (0..60_000).map(|it| format!("a{it} ")).collect::<String>()),
        ),
        (
            "quoted attributes",
            format!("<p {}>", (0..60_000).map(|it| format!("a{it}=''")).collect::<String>()),
        ),
        ("open formats", mega("<a><p>")),
        ("entities", mega("&amp;lt;")),
        ("headings", mega("<h1><h2>x")),
        ("ends", mega("</p>")),
        ("scripts", mega("<script>x</script>")),
        ("one word", mega("word")),
        ("comments", mega("<!--<!--")),
        ("ends of blocks that other elements hold open", held_open("div", "marquee")),
        ("ends of marks that other elements hold open", held_open("span", "div")),
        ("items of items", mega("<li><dd>")),
        (
            "wide cell",
            format!("<table><tr><th>{}</th></tr>", "A".repeat(20_000))
                + &"<tr><td>x</td></tr>".repeat(2000)
                + "</table>",
        ),
        (
            "wide row",
            format!("<table><tr>{}", "<th></th>".repeat(5000)) + &"<tr><td>x".repeat(5000),
        ),
        (
            "long base",
            format!("<base href='http://a.test/{}/'>", "A".repeat(20_000))
                + &"<a href=x>y</a>".repeat(20_000),
        ),
        (
            "long enough base",
            format!("<base href='http://a.test/{}/'>", "A".repeat(8000))
                + &"<a href=x>y</a>".repeat(20_000),
        ),
        ("quoted lines", "<blockquote>".repeat(199) + "<pre>" + &"a\n".repeat(20_000)),
        (
            "numbered lines",
            "<ol start=2000000000><li>".repeat(90) + "<pre>" + &"a\n".repeat(20_000),
        ),
        (
            "repeated titles",
            format!("<a href=/ title={}>", "A".repeat(20_000)) + &"<p>x".repeat(5000),
        ),
        (
            "repeated marks",
            (0..90).map(|it| format!("<b a{it}>")).collect::<String>() + &"<p>x".repeat(20_000),
        ),
    ] {
        let (text, words) = (of(&html), words(&html));
        println!(
            "{what}: {} bytes, {} of Markdown, {} of words",
            html.len(),
            text.len(),
            words.len()
        );
        assert!(text.len() <= 8 * html.len(), "{what}");
    }
}

#[test]
fn the_words_of_what_is_left_out_stay() {
    let deep = format!("{}bottom{}<p>after", "<div>".repeat(1000), "</div>".repeat(1000));
    let text = of(&deep);
    assert!(text.contains("bottom") && text.contains("after"), "{text}");
    let scripts = format!("{}<p>last", "<script>x</script><style>x</style>".repeat(30_000));
    assert_eq!(of(&scripts), "last");
    assert_eq!(of("<p>one<script>two"), "one");
    let many = format!("{}<p>last", "<i>x</i> ".repeat(60_000));
    assert!(of(&many).contains("last"));
    let attack = format!("<p {}>words</p>", "a ".repeat(5000));
    assert_eq!(of(&attack), "words");
}

/// Real pages: what this machine has of the documentation of Rust and of its packages, each two-hundredth of them. Sizes are
/// printed; a machine without such pages says so.
#[test]
fn pages_that_are_installed_here_are_converted() {
    let sysroot = std::process::Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = sysroot.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned());
    let rust = format!("{}/share/doc", sysroot.unwrap_or_default());
    let mut pages = Vec::new();
    for folder in ["/usr/share/doc", &rust] {
        let found = ignore::WalkBuilder::new(folder).standard_filters(false).build().flatten();
        let found = found.map(ignore::DirEntry::into_path);
        pages.extend(found.filter(|it| it.extension().is_some_and(|it| it == "html")));
    }
    pages.sort();
    let (mut count, mut bytes, mut characters) = (0, 0, 0);
    for page in pages.iter().step_by(200) {
        let Ok(html) = std::fs::read_to_string(page) else { continue };
        let text = of(&html);
        assert!(!words(&html).contains("<script"), "{}", page.display());
        count += 1;
        bytes += html.len();
        characters += text.len();
    }
    match count {
        0 => println!("skipped: no page is installed here"),
        _ => println!("{count} of {} pages, {bytes} bytes, became {characters}", pages.len()),
    }
}
