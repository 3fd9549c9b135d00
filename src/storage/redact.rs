//! Secrets taken out of text: the one way by which foreign words get into errors and events.

use std::fmt;

/// What stands in place of a secret.
const MASK: &str = "***";

/// Text after these words, up to a delimiter, is a secret. Compared without regard to case.
const SECRET_WORDS: &[&str] = &[
    "authorization",
    "x-amz-security-token",
    "x-amz-signature",
    "x-amz-credential",
    "signature",
    "credential",
    "awsaccesskeyid",
    "accesskeyid",
    "secretaccesskey",
    "sessiontoken",
    "access_token",
    "token",
    "sig",
    "password",
    "secret",
    "api_key",
    "apikey",
    "cookie",
];

/// Schemes of `Authorization`: the word after them is a secret.
const SCHEMES: &[&str] = &["bearer", "basic", "negotiate"];

/// `text` without URL queries, fragments and user names, without values of words that name secrets, and without
/// each of `secrets` that is at least four bytes long.
pub fn redact(text: &str, secrets: &[&str]) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|secret| secret.len() >= 4) {
        text = text.replace(secret, MASK);
    }
    let mut out = String::with_capacity(text.len());
    let mut hide = Hide::Nothing;
    for word in pieces(&text) {
        if word.starts_with(is_space) {
            out.push_str(word);
            continue;
        }
        hide = match hide {
            Hide::Nothing => show(word, &mut out),
            Hide::Next if is_scheme(word) => {
                out.push_str(word);
                Hide::Next
            }
            Hide::Next => {
                out.push_str(MASK);
                Hide::Nothing
            }
        };
    }
    out
}

enum Hide {
    Nothing,
    Next,
}

fn is_space(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '"' | '\'' | '<' | '>' | ',' | ';' | '(' | ')' | '{' | '}'
        )
}

fn is_scheme(word: &str) -> bool {
    SCHEMES.iter().any(|s| word.eq_ignore_ascii_case(s))
}

/// Runs of delimiters and runs of anything else, in turn.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest
            .find(|c| is_space(c) != is_space(first))
            .unwrap_or(rest.len());
        let (piece, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(piece)
    })
}

/// Puts one word out, cut where a secret begins; says whether the next word is one.
fn show(word: &str, out: &mut String) -> Hide {
    if is_scheme(word) {
        out.push_str(word);
        return Hide::Next;
    }
    if let Some((scheme, rest)) = word.split_once("://") {
        out.push_str(scheme);
        out.push_str("://");
        show_url(rest, out);
        return Hide::Nothing;
    }
    // A relative link with a query, or form text.
    let (head, query) = match word.split_once('?') {
        Some((head, query)) if query.contains('=') => (head, Some(query)),
        _ => (word, None),
    };
    let hide = show_pairs(head, out);
    if query.is_some() {
        out.push('?');
        out.push_str(MASK);
    }
    hide
}

fn show_url(rest: &str, out: &mut String) {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.rsplit_once('@') {
        Some((_, host)) => {
            out.push_str(MASK);
            out.push('@');
            host
        }
        None => authority,
    };
    out.push_str(host);
    let path = rest.strip_prefix(authority).unwrap_or_default();
    match path.find(['?', '#']) {
        Some(at) => {
            out.push_str(path.get(..at).unwrap_or_default());
            out.push('?');
            out.push_str(MASK);
        }
        None => out.push_str(path),
    }
}

/// `a=1&token=x`: the values of secret words are masked; `Authorization:` hides the next word.
fn show_pairs(word: &str, out: &mut String) -> Hide {
    let mut hide = Hide::Nothing;
    for (index, pair) in word.split('&').enumerate() {
        if index > 0 {
            out.push('&');
        }
        let cut = pair.find(['=', ':']);
        let name = pair.get(..cut.unwrap_or(pair.len())).unwrap_or_default();
        let secret = SECRET_WORDS.iter().any(|w| name.eq_ignore_ascii_case(w));
        match cut {
            Some(at) if secret => {
                out.push_str(pair.get(..=at).unwrap_or_default());
                match pair.len() > at + 1 {
                    true => out.push_str(MASK),
                    false => hide = Hide::Next,
                }
            }
            _ => out.push_str(pair),
        }
    }
    hide
}

/// The text of a foreign error, redacted: kept as a cause in place of the error itself.
#[derive(Debug)]
pub struct Redacted(String);

impl Redacted {
    /// Of `text`, also without each of `secrets`.
    pub fn new(text: impl fmt::Display, secrets: &[&str]) -> Self {
        Self(redact(&text.to_string(), secrets))
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Redacted {}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(redact(text, &["s3cr3t-value", "abc"]), expected);
    }

    #[test]
    fn queries_and_user_names_of_urls_go() {
        check(
            "GET https://user:pw@host.test:80/a/b?X-Amz-Signature=9f&x=1#frag failed",
            "GET https://***@host.test:80/a/b?*** failed",
        );
        check("(https://h/p)", "(https://h/p)");
        check("got \"/p/q?sig=1\" back", "got \"/p/q?***\" back");
        check("why? nobody knows", "why? nobody knows");
    }

    #[test]
    fn values_of_secret_words_go() {
        check(
            "Authorization: Bearer eyJhbGci.x.y rest",
            "Authorization: Bearer *** rest",
        );
        check("authorization:abcd1234", "authorization:***");
        check("Basic dXNlcjpwdw==", "Basic ***");
        check(
            "AWS4-HMAC-SHA256 Credential=AKID/2026/us, SignedHeaders=host, Signature=12ab",
            "AWS4-HMAC-SHA256 Credential=***, SignedHeaders=host, Signature=***",
        );
        check("a=1&token=xyz&b=2", "a=1&token=***&b=2");
        check(
            "<AWSAccessKeyId>AKIA</AWSAccessKeyId>",
            "<AWSAccessKeyId>AKIA</AWSAccessKeyId>",
        );
    }

    #[test]
    fn known_secrets_go_wherever_they_stand() {
        check(
            "header \"s3cr3t-value\\n\" is not valid",
            "header \"***\\n\" is not valid",
        );
        check("too short to hide: abc", "too short to hide: abc");
    }

    #[test]
    fn plain_sentences_and_unicode_stay() {
        check(
            "connect ECONNREFUSED 127.0.0.1:9000",
            "connect ECONNREFUSED 127.0.0.1:9000",
        );
        check("größe=3 für ümläut", "größe=3 für ümläut");
        check("", "");
    }
}
