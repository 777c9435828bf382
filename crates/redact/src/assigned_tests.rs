//! Values of secret names are hidden, however they are written; code without any is unchanged.

use crate::{
    edits::{Edit, apply},
    words::Words,
};

fn check(text: &str, expect: &str) {
    let mut edits = Vec::new();
    Words::new().expect("built in").find(text, &mut |range| edits.push(Edit::inside(range)));
    assert_eq!(apply(text, edits).replace(crate::HIDDEN, "[-]"), expect);
}

#[test]
fn values_of_secret_names_go_and_names_stay() {
    for (text, expect) in [
        ("X-Api-Key: abcdef123456", "X-Api-Key: [-]"),
        ("curl -H 'X-Api-Key: abcdefgh' x", "curl -H 'X-Api-Key: [-]' x"),
        ("Token::Ident => 1,", "Token::Ident => 1,"),
        ("password=hunter2", "password=[-]"),
        ("PASSWORD=hunter", "PASSWORD=[-]"),
        ("user=bob;Password=hunter;x=1", "user=bob;Password=[-];x=1"),
        (r#""password": "hunter2""#, r#""password": "[-]""#),
        (r#"{\"password\": \"hunter2\", \"a\": 1}"#, r#"{\"password\": \"[-]\", \"a\": 1}"#),
        ("db_password: hunter2", "db_password: [-]"),
        ("a:\n  db_password: correct\n  b: 1", "a:\n  db_password: [-]\n  b: 1"),
        ("password = correct # mine", "password = [-] # mine"),
        ("api_key = \"zzz111222333\"", "api_key = \"[-]\""),
        ("const apiKey = 'zzz';", "const apiKey = '[-]';"),
        ("accessToken: 'a b', x: 1", "accessToken: '[-]', x: 1"),
        ("passwd: 123456", "passwd: [-]"),
        ("client_secret := \"x\"", "client_secret := \"[-]\""),
        ("{:secret_key => 'x'}", "{:secret_key => '[-]'}"),
        ("password=a password=b", "password=[-] password=[-]"),
        (r#"password = "a\"b" c"#, r#"password = "[-]" c"#),
        ("password = b'hunter2'", "password = b'[-]'"),
        ("password: str = \"hunter2\"", "password: str = \"[-]\""),
        ("static API_KEY: &'static str = \"x\";", "static API_KEY: &'static str = \"[-]\";"),
        ("token: Dict[str, str] = 'x'", "token: Dict[str, str] = '[-]'"),
        ("a:\n  password: |\n    hunter\n\n    two\n  b: 1", "a:\n  password: |\n    [-]\n  b: 1"),
        ("tls_secret: >-  # mine\n  hunter\nb: 1", "tls_secret: >-  # mine\n  [-]\nb: 1"),
        ("<password>hunter2</password>", "<password>[-]</password>"),
        ("<db:Secret>a b</db:Secret>", "<db:Secret>[-]</db:Secret>"),
        ("DB_PASSWORD=a(b;c,d next", "DB_PASSWORD=[-] next"),
        ("GITHUB_TOKEN_2='x y'", "GITHUB_TOKEN_2='[-]'"),
        ("SECRET_KEY=\"\"\"two\nlines\"\"\"", "SECRET_KEY=\"\"\"[-]\"\"\""),
        ("`password`: `hunter2`", "`password`: `[-]`"),
        ("os.environ[\"DB_PASSWORD\"] = \"hunter2\"", "os.environ[\"DB_PASSWORD\"] = \"[-]\""),
        ("<secret id=\"1\">hunter2</secret>", "<secret id=\"1\">[-]</secret>"),
        ("<Token>\n<![CDATA[hunter2]]></Token>", "<Token>\n<![CDATA[[-]]]></Token>"),
        ("- name: DB_PASSWORD\r\n  value: hunter2\r\n", "- name: DB_PASSWORD\r\n  value: [-]\r\n"),
        ("{\"name\": \"API_KEY\", \"value\": \"x y\"}", "{\"name\": \"API_KEY\", \"value\": \"[-]\"}"),
        ("<add key=\"password\" value=\"x\"/>", "<add key=\"password\" value=\"[-]\"/>"),
        ("a password token=hunter2", "a password token=[-]"),
        ("<secret token=\"x\">y</secret>", "<secret token=\"[-]\">[-]</secret>"),
        ("SMTP_PASS=hunter2", "SMTP_PASS=[-]"),
        ("MYSQL_PWD='a b'", "MYSQL_PWD='[-]'"),
        ("let secret = String::from(\"x\");", "let secret = String::from(\"[-]\");"),
        ("token: Some(String::from(\"x\")),", "token: Some(String::from(\"[-]\")),"),
        ("os.getenv(\"DB_PASSWORD\", \"x\")", "os.getenv(\"DB_PASSWORD\", \"[-]\")"),
        ("define('API_KEY', 'x');", "define('API_KEY', '[-]');"),
    ] {
        check(text, expect);
    }
}

#[test]
fn code_that_passes_a_value_on_stays() {
    for code in [
        "password = get()",
        "def f(password: str, token: Optional[str] = None):",
        "let token = next_token();",
        "if password == given { secret() }",
        "struct A { secret: u64, token: Token, password: String }",
        "connect(password=password)",
        "x.token = self.token",
        "secret: [u8; 32],",
        "token => parse(token),",
        "private_key: &'a str",
        "max_tokens = 4096, tokens: 5",
        "token: 0",
        "secret = Some(x);",
        "the token: a word for the wise",
        "password: SecretStr",
        "api_key=None",
        "MAX_TOKENS = 4096",
        "MAX_TOKENS=128000",
        "SECRET_TTL=86400",
        "TOKEN_KINDS = [A, B]",
        "let secret = |name: &str| name == other;",
        "API_KEY = os.environ[name]",
        "SECRET = load_secret()",
        "f(token: str, name=\"y\")",
        "fn f(a: Option<Token>, b: Vec<u8>) {}",
        "if TOKEN == other {",
        "fields = [\"password\", \"email\"]",
        "NAMES = [\"DB_PASSWORD\", \"DB_USER\"]",
        "label(\"password\", \"Your password\")",
        "cfg[\"password\"] = value",
        "token = Some(next)",
        "PWD=/srv/app",
        "the secret value: a matter of taste",
        "<secret id=\"1\"><name>x</name></secret>",
        "if a < token && b > c </ d",
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: x",
    ] {
        check(code, code);
    }
}
