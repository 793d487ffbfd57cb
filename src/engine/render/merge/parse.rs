//! Parses tokens into a tree. Unexpected syntax is rejected with an error that names the remedy.

use std::vec;

use super::ast::{Branch, Chain, Comparison, Condition, Constant, EscapeContext, Filter, Node, Operand, Path};
use super::filters;
use super::lexer::{TemplatePart, Token, pieces, refuse};
use super::{MergeError, OutputKind};
use crate::base::text::one_line;
use crate::vocab::limits;

/// The words that cannot be field names.
const RESERVED: [&str; 14] =
    ["and", "or", "not", "in", "is", "if", "elif", "else", "endif", "for", "endfor", "true", "false", "none"];

/// The remedy for an unexpected token in `{{ … }}`.
const FIELD_SAMPLE: &str = "write a field like {{ first_name }}";
/// The remedy for a token after a complete condition.
const OPERATOR_MISSING: &str = "write an operator like == before it, or remove it";

/// Returns the literals and the tree of a template.
pub fn parse(source: &str, kind: OutputKind) -> Result<(Vec<String>, Vec<Node>), MergeError> {
    // Templates use LF line endings internally. The message writer sets the final line endings.
    let even = source.contains('\r').then(|| source.replace("\r\n", "\n").replace('\r', "\n"));
    let pieces = pieces(even.as_deref().unwrap_or(source), kind)?;
    let mut parser = Parser { pieces: pieces.into_iter(), literals: Vec::new(), kind, levels: 0 };
    let (nodes, ending) = parser.nodes()?;
    match ending {
        Some(ending) => {
            refuse(ending.cursor.line, format!("{{% {} %}} does not belong to an open block; remove it", ending.word))
        }
        None => Ok((parser.literals, nodes)),
    }
}

struct Parser {
    pieces: vec::IntoIter<TemplatePart>,
    literals: Vec<String>,
    kind: OutputKind,
    /// The number of open `if` and `for` blocks.
    levels: usize,
}

/// The block that ended a list of nodes: `elif`, `else`, `endif` or `endfor`.
struct Ending {
    word: String,
    cursor: Cursor,
}

impl Parser {
    /// Parses nodes up to the `elif`, `else`, `endif` or `endfor` that ends the list, or up to the end of the template.
    fn nodes(&mut self) -> Result<(Vec<Node>, Option<Ending>), MergeError> {
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.next() {
            match piece {
                TemplatePart::Literal(text) => nodes.push(self.literal(text)),
                TemplatePart::Output { tokens, line } => {
                    let mut cursor = Cursor::new(tokens, line);
                    let chain = cursor.chain()?;
                    cursor.end(FIELD_SAMPLE)?;
                    let place = match self.kind {
                        OutputKind::Html => EscapeContext::Markup,
                        OutputKind::Text => EscapeContext::Text,
                        OutputKind::Header => EscapeContext::Line,
                    };
                    nodes.push(Node::Output { chain, place });
                }
                TemplatePart::Block { tokens, line } => {
                    let mut cursor = Cursor::new(tokens, line);
                    match cursor.name("block")?.as_str() {
                        "if" => nodes.push(self.inside(line, |parser| parser.branches(cursor))?),
                        "for" => nodes.push(self.inside(line, |parser| parser.repeated(cursor))?),
                        word @ ("elif" | "else" | "endif" | "endfor") => {
                            return Ok((nodes, Some(Ending { word: word.to_owned(), cursor })));
                        }
                        word => {
                            return refuse(
                                line,
                                format!("{word} is not a block; the blocks are if, elif, else, endif, for and endfor"),
                            );
                        }
                    }
                }
            }
        }
        Ok((nodes, None))
    }

    fn literal(&mut self, text: String) -> Node {
        let text = if self.kind == OutputKind::Header { one_line(&text).into_owned() } else { text };
        self.literals.push(text);
        Node::Literal(self.literals.len() - 1)
    }

    /// Parses a block one level deeper.
    fn inside(&mut self, line: usize, read: impl FnOnce(&mut Self) -> Result<Node, MergeError>) -> Result<Node, MergeError> {
        self.levels += 1;
        if self.levels > limits::MERGE_LEVELS_MAX {
            return refuse(
                line,
                format!("if and for blocks are nested more than {} levels deep; flatten them", limits::MERGE_LEVELS_MAX),
            );
        }
        let node = read(self);
        self.levels -= 1;
        node
    }

    /// Parses the rest of an `if` block.
    fn branches(&mut self, mut cursor: Cursor) -> Result<Node, MergeError> {
        let opened = cursor.line;
        let mut branches = Vec::new();
        let mut condition = Some(cursor.condition()?);
        cursor.end(OPERATOR_MISSING)?;
        loop {
            let (nodes, ending) = self.nodes()?;
            let has_condition = condition.is_some();
            branches.push(Branch { condition, nodes, line: cursor.line });
            let Some(ending) = ending else {
                return refuse(opened, "an if block has no {% endif %}; add it where the block ends");
            };
            cursor = ending.cursor;
            condition = match (ending.word.as_str(), has_condition) {
                ("endif", _) => break,
                ("elif", true) => Some(cursor.condition()?),
                ("else", true) if cursor.word("if") => {
                    return refuse(cursor.line, "{% else if … %} is not supported in emails; write {% elif … %}");
                }
                ("else", true) => None,
                (word @ ("elif" | "else"), false) => {
                    return refuse(
                        cursor.line,
                        format!(
                            "{{% {word} %}} follows the {{% else %}} of the if block that starts on line {opened}; remove \
                             {{% {word} %}}, or write {{% endif %}} before it"
                        ),
                    );
                }
                (word, _) => {
                    return refuse(
                        cursor.line,
                        format!("{{% {word} %}} is inside the if block that starts on line {opened}; write {{% endif %}} first"),
                    );
                }
            };
            cursor.end(if condition.is_some() { OPERATOR_MISSING } else { "remove it" })?;
        }
        cursor.end("remove it")?;
        Ok(Node::If(branches))
    }

    /// Parses the rest of a `for` block.
    fn repeated(&mut self, mut cursor: Cursor) -> Result<Node, MergeError> {
        let opened = cursor.line;
        let form = "write a loop as {% for item in items %}";
        if cursor.word("in") {
            return refuse(opened, form);
        }
        let name = cursor.field_name()?;
        if !cursor.word("in") {
            return refuse(opened, form);
        }
        let list = cursor.chain()?;
        if list.path().is_none() {
            return refuse(opened, "a loop needs a list from the data, like {% for item in items %}");
        }
        cursor.end("remove it")?;
        match self.nodes()? {
            (nodes, Some(ending)) if ending.word == "endfor" => {
                ending.cursor.end("remove it")?;
                Ok(Node::For { name: name.into(), list, nodes })
            }
            (_, Some(ending)) => refuse(
                ending.cursor.line,
                format!(
                    "{{% {} %}} is inside the for block that starts on line {opened}; write {{% endfor %}} before it, or remove it",
                    ending.word
                ),
            ),
            (_, None) => refuse(opened, "a for block has no {% endfor %}; add it where the block ends"),
        }
    }
}

/// Reads the tokens of one pair of braces.
struct Cursor {
    tokens: Vec<Token>,
    at: usize,
    line: usize,
    /// The number of open parentheses and of `not` operators.
    levels: usize,
}

impl Cursor {
    fn new(tokens: Vec<Token>, line: usize) -> Self {
        Self { tokens, at: 0, line, levels: 0 }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn sign(&mut self, sign: &str) -> bool {
        let is = matches!(self.peek(), Some(Token::Sign(found)) if *found == sign);
        self.at += usize::from(is);
        is
    }

    fn word(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Some(Token::Name(found)) if found == word);
        self.at += usize::from(is);
        is
    }

    /// Reads a name. `what` is the kind of the name, such as `filter`, for the error message.
    fn name(&mut self, what: &str) -> Result<String, MergeError> {
        match self.peek() {
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            found => refuse(self.line, format!("a {what} name is missing before {}; add it", shown(found))),
        }
    }

    fn field_name(&mut self) -> Result<String, MergeError> {
        let name = self.name("field")?;
        if RESERVED.contains(&name.as_str()) {
            let remedy = match name.as_str() {
                "if" | "elif" | "else" | "endif" | "for" | "endfor" => "write blocks like {% if … %}, or rename the field",
                "none" => "check for a value with \"is defined\", or rename the field",
                _ => FIELD_SAMPLE,
            };
            return refuse(self.line, format!("{name} is a reserved word, not a field; {remedy}"));
        }
        Ok(name)
    }

    /// Checks that no tokens follow. If one does, the error message ends with `remedy`.
    fn end(&self, remedy: &str) -> Result<(), MergeError> {
        match self.peek() {
            None => Ok(()),
            Some(Token::Sign("(")) => refuse(self.line, "functions are not supported in emails; pass the result as a variable"),
            Some(Token::Name(word)) if word == "if" => refuse(self.line, "write \"if\" as a block: {% if … %} … {% endif %}"),
            found => refuse(self.line, format!("{} is unexpected here; {remedy}", shown(found))),
        }
    }

    /// Parses a value with its filters: `name.name | filter | filter(…)`.
    fn chain(&mut self) -> Result<Chain, MergeError> {
        let operand = self.operand()?;
        let mut filters = Vec::new();
        while self.sign("|") {
            if filters.len() == limits::MERGE_FILTERS_MAX {
                return refuse(self.line, format!("a field has more than {} filters; use fewer", limits::MERGE_FILTERS_MAX));
            }
            filters.push(self.filter()?);
        }
        Ok(Chain { operand, filters, line: self.line })
    }

    fn operand(&mut self) -> Result<Operand, MergeError> {
        if let Some(constant) = self.constant() {
            return Ok(Operand::Constant(constant));
        }
        let mut path = self.field_name()?;
        let mut words = 1;
        while self.sign(".") {
            words += 1;
            if words > limits::MERGE_PATH_WORDS_MAX {
                return refuse(
                    self.line,
                    format!("the field {path}… has more than {} levels; use fewer", limits::MERGE_PATH_WORDS_MAX),
                );
            }
            path.push('.');
            path.push_str(&self.field_name()?);
        }
        Ok(Operand::Path(Path::new(&path)))
    }

    fn constant(&mut self) -> Option<Constant> {
        let constant = match self.peek()? {
            Token::Text(text) => Constant::Text(text.clone()),
            Token::Number(number) => Constant::Number(number.clone()),
            Token::Name(word) if word == "true" => Constant::Truth(true),
            Token::Name(word) if word == "false" => Constant::Truth(false),
            Token::Name(_) | Token::Sign(_) => return None,
        };
        self.at += 1;
        Some(constant)
    }

    fn filter(&mut self) -> Result<Filter, MergeError> {
        let name = self.name("filter")?;
        let mut arguments = Vec::new();
        if self.sign("(") && !self.sign(")") {
            loop {
                match self.constant() {
                    Some(constant) => arguments.push(constant),
                    None if self.peek().is_none() => {
                        return refuse(
                            self.line,
                            format!("{name}(… has no closing parenthesis; write ) after the last argument"),
                        );
                    }
                    None => {
                        return refuse(self.line, format!("{name}(…) accepts only numbers, true, false, and strings in quotes"));
                    }
                }
                if self.sign(")") {
                    break;
                }
                if !self.sign(",") {
                    return refuse(self.line, format!("{name}(… needs a comma between arguments and ) after the last one"));
                }
            }
        }
        filters::find(&name, arguments).or_else(|problem| refuse(self.line, problem))
    }

    fn condition(&mut self) -> Result<Condition, MergeError> {
        let mut any = vec![self.all()?];
        while self.word("or") {
            any.push(self.all()?);
        }
        Ok(if any.len() == 1 { any.remove(0) } else { Condition::Any(any) })
    }

    fn all(&mut self) -> Result<Condition, MergeError> {
        let mut all = vec![self.one()?];
        while self.word("and") {
            all.push(self.one()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Condition::All(all) })
    }

    fn one(&mut self) -> Result<Condition, MergeError> {
        self.levels += 1;
        if self.levels > limits::MERGE_LEVELS_MAX {
            return refuse(
                self.line,
                format!("a condition is nested more than {} levels deep; simplify it", limits::MERGE_LEVELS_MAX),
            );
        }
        let condition = if self.word("not") {
            Condition::Not(Box::new(self.one()?))
        } else if self.sign("(") {
            let condition = self.condition()?;
            if !self.sign(")") {
                let found = shown(self.peek());
                return refuse(self.line, format!("a closing parenthesis or an operator is missing before {found}; add it"));
            }
            condition
        } else {
            self.compared()?
        };
        self.levels -= 1;
        Ok(condition)
    }

    fn compared(&mut self) -> Result<Condition, MergeError> {
        const SIGNS: [(&str, Comparison); 6] = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("<", Comparison::Less),
            (">", Comparison::More),
        ];
        let left = self.chain()?;
        if let Some((_, comparison)) = SIGNS.into_iter().find(|(sign, _)| self.sign(sign)) {
            return Ok(Condition::Compares(comparison, left, self.chain()?));
        }
        if self.word("in") {
            return Ok(Condition::Compares(Comparison::Within, left, self.chain()?));
        }
        if self.word("not") {
            if !self.word("in") {
                return refuse(self.line, "\"not\" is allowed only before a condition, in \"not in\", or in \"is not\"");
            }
            return Ok(Condition::Not(Box::new(Condition::Compares(Comparison::Within, left, self.chain()?))));
        }
        if !self.word("is") {
            return Ok(Condition::Holds(left));
        }
        let negated = self.word("not");
        let Some(Token::Name(word)) = self.peek().cloned() else {
            return refuse(self.line, "\"is\" must be followed by \"defined\" or \"not defined\"; use \"==\" to compare values");
        };
        self.at += 1;
        let defined = match word.as_str() {
            "defined" => true,
            "undefined" | "none" => false,
            word => {
                let not = if negated { "not " } else { "" };
                return refuse(
                    self.line,
                    format!("\"is {not}{word}\" is not supported in emails; use \"is defined\" or \"is not defined\""),
                );
            }
        };
        let condition = Condition::Defined(left);
        Ok(if defined == negated { Condition::Not(Box::new(condition)) } else { condition })
    }
}

/// Returns a token as text for an error message.
fn shown(token: Option<&Token>) -> String {
    match token {
        None => "the end of the braces".to_owned(),
        Some(Token::Name(name)) => name.clone(),
        Some(Token::Text(text)) => format!("{text:?}"),
        Some(Token::Number(number)) => number.to_string(),
        Some(Token::Sign(sign)) => (*sign).to_owned(),
    }
}
