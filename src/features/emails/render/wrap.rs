//! Formats plain text: wraps lines at 78 columns, underlines titles, indents lines and aligns columns.
//!
//! Wide characters count as two columns. Addresses and placeholders are never split, even if a line becomes too long.

/// The maximum number of columns in a line. RFC 5322 recommends at most 78.
const WIDTH: usize = 78;

/// Wraps text at `WIDTH` columns.
pub fn wrapped(text: &str) -> String {
    indented(text, "", "")
}

/// Wraps text, with one prefix for the first line and another prefix for the following lines.
pub fn indented(text: &str, first: &str, rest: &str) -> String {
    let mut out = String::from(first);
    let mut used = width(first);
    let mut empty = true;
    for word in words(text) {
        let wide = width(&word);
        if !empty && used + 1 + wide > WIDTH {
            out.push('\n');
            out.push_str(rest);
            used = width(rest);
            empty = true;
        }
        if !empty {
            out.push(' ');
            used += 1;
        }
        empty = false;
        if used + wide <= WIDTH || !word.chars().any(is_wide) {
            out.push_str(&word);
            used += wide;
            continue;
        }
        // Lines in scripts without spaces can break between characters.
        for character in word.chars() {
            if used + columns_of(character) > WIDTH {
                out.push('\n');
                out.push_str(rest);
                used = width(rest);
            }
            out.push(character);
            used += columns_of(character);
        }
    }
    out
}

/// Returns a title underlined with `mark`.
pub fn underlined(text: &str, mark: char) -> String {
    let text = wrapped(text);
    let longest = text.lines().map(width).max().unwrap_or(0);
    format!("{text}\n{}", String::from(mark).repeat(longest))
}

/// Aligns cells in columns. If there are several columns, the last column is end-aligned. If the rows are too wide, each cell is on a
/// separate line.
pub fn columns(rows: &[Vec<String>], has_head: bool) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let wide = |index: usize| rows.iter().filter_map(|row| row.get(index)).map(|cell| width(cell)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(wide).collect();
    let total = widths.iter().sum::<usize>() + 2 * count.saturating_sub(1);
    if total > WIDTH {
        return listed(rows, has_head);
    }
    let mut lines = Vec::with_capacity(rows.len() + 1);
    for (at, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (index, cell) in row.iter().enumerate() {
            let room = " ".repeat(widths[index].saturating_sub(width(cell)));
            let last = index + 1 == count && count > 1;
            let between = if index > 0 { "  " } else { "" };
            line.push_str(&if last { format!("{between}{room}{cell}") } else { format!("{between}{cell}{room}") });
        }
        lines.push(line.trim_end().to_owned());
        if at == 0 && has_head {
            lines.push("-".repeat(total));
        }
    }
    lines.join("\n")
}

/// Returns the cells of each row on separate lines, as `name: value` if the table has column headings.
fn listed(rows: &[Vec<String>], has_head: bool) -> String {
    let head = rows.first().filter(|_| has_head);
    let each = rows.iter().skip(usize::from(has_head)).map(|row| {
        let lines = row.iter().enumerate().map(|(index, cell)| match head.and_then(|head| head.get(index)) {
            Some(name) => indented(&format!("{name}: {cell}"), "", "  "),
            None => indented(cell, if index == 0 { "" } else { "  " }, "  "),
        });
        lines.collect::<Vec<_>>().join("\n")
    });
    each.collect::<Vec<_>>().join("\n\n")
}

/// Splits text at spaces, but not inside placeholders.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let placeholder = rest.strip_prefix("{{").and_then(|inside| inside.find("}}")).map(|close| close + 4);
        let length = placeholder.unwrap_or(character.len_utf8());
        if placeholder.is_none() && matches!(character, ' ' | '\n' | '\t') {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
        } else if placeholder.is_some() || !character.is_control() {
            word.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

fn columns_of(character: char) -> usize {
    match u32::from(character) {
        // Combining marks, joiners and variation selectors have no width.
        0x300..=0x36f | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xfe00..=0xfe0f | 0x591..=0x5bd | 0x64b..=0x65f => {
            0
        }
        _ if is_wide(character) => 2,
        _ => 1,
    }
}

fn is_wide(character: char) -> bool {
    matches!(u32::from(character),
        0x1100..=0x115f | 0x2e80..=0x303e | 0x3041..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe4f
        | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1f64f | 0x1f680..=0x1f6ff | 0x1f900..=0x1f9ff | 0x20000..=0x3fffd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_at_most_78_columns_and_addresses_are_whole() {
        let address = format!("https://example.com/{}", "a".repeat(90));
        let text = wrapped(&format!("{} {address} end", "word ".repeat(30)));
        assert!(text.lines().all(|line| line == address || line.chars().count() <= 78), "{text}");
        assert!(text.contains(&format!("\n{address}\nend")));
    }

    #[test]
    fn a_placeholder_is_never_broken() {
        let text = wrapped(&format!("{} {{{{ first_name | default(\"dear reader\") }}}}!", "word ".repeat(14)));
        assert!(text.ends_with("\n{{ first_name | default(\"dear reader\") }}!"), "{text}");
    }

    #[test]
    fn wide_characters_count_twice_and_break_anywhere() {
        let text = wrapped(&"茶".repeat(50));
        assert_eq!(text.lines().map(|line| line.chars().count()).collect::<Vec<_>>(), [39, 11]);
        assert_eq!(underlined("茶葉", '='), "茶葉\n====");
    }

    #[test]
    fn tables_are_aligned_or_become_lists() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let rows = [row(&["Day", "Hours"]), row(&["Saturday", "9–14"])];
        assert_eq!(columns(&rows, true), "Day       Hours\n---------------\nSaturday   9–14");
        let long = "x".repeat(74);
        let rows = [row(&["Name", "Value"]), row(&["a", long.as_str()])];
        assert_eq!(columns(&rows, true), format!("Name: a\nValue:\n  {long}"));
    }
}
