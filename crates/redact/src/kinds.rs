//! Tokens that are known by their prefix: the facts that their issuers publish, as a table.

/// The characters that the rest of a token consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// Hexadecimal digits.
    Hex,
    /// Letters and digits.
    Alnum,
    /// Letters, digits, `_` and `-`.
    Word,
    /// Letters, digits, `_`, `-` and dots.
    Dotted,
    /// The characters of base64, with padding.
    Base64,
    /// The rest of a URL.
    Path,
}

/// How a token is told from a word with the same beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    /// The prefix is enough.
    Free,
    /// No letter, digit or underscore comes before it.
    Word,
    /// Like `Word`, and the body is exactly as long as the least length.
    Exact,
    /// Like `Word`, and the body mixes letters and digits as no name does.
    Mixed,
}

/// One kind of token: its prefixes, the characters of its body, the body's least length, its edge.
pub(crate) type Kind = (&'static [&'static str], Body, usize, Edge);

use Body::{Alnum, Base64, Dotted, Hex, Path, Word};

pub(crate) const KINDS: &[Kind] = &[
    // GitHub, GitLab
    (&["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Alnum, 20, Edge::Free),
    (&["github_pat_"], Word, 20, Edge::Free),
    (
        &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-",
            "glsoat-", "glffct-",
        ],
        Dotted,
        16,
        Edge::Free,
    ),
    (&["_gitlab_session="], Dotted, 16, Edge::Free),
    (&["GR1348941"], Word, 18, Edge::Word),
    // Models
    (
        &["sk-proj-", "sk-ant-", "sk-svcacct-", "sk-admin-", "sk-or-", "sk-lf-", "sk-None-"],
        Word,
        12,
        Edge::Free,
    ),
    (&["sk-", "sk_"], Word, 20, Edge::Mixed),
    (&["hf_", "api_org_"], Alnum, 20, Edge::Mixed),
    (&["gsk_", "xai-", "pplx-", "csk-", "r8_"], Alnum, 30, Edge::Word),
    (&["nvapi-", "lsv2_pt_", "lsv2_sk_", "pcsk_"], Word, 30, Edge::Free),
    (&["ABSKQmVkcm9ja0FQSUtleS"], Base64, 20, Edge::Free),
    // Clouds
    (&["AKIA", "ASIA", "ABIA", "ACCA"], Alnum, 16, Edge::Exact),
    (&["amzn.mws."], Word, 20, Edge::Free),
    (&["AIza"], Word, 30, Edge::Word),
    (&["ya29.", "GOCSPX-"], Word, 20, Edge::Free),
    (&["1//0"], Word, 30, Edge::Word),
    (&["LTAI"], Alnum, 16, Edge::Mixed),
    (&["dop_v1_", "doo_v1_", "dor_v1_"], Hex, 40, Edge::Free),
    (&["dapi"], Hex, 32, Edge::Word),
    (&["HRKU-AA"], Word, 30, Edge::Free),
    (&["sbp_"], Hex, 40, Edge::Word),
    (&["sb_secret_"], Word, 16, Edge::Free),
    (&["tskey-"], Word, 16, Edge::Free),
    (&["fm1r_", "fm1a_", "fm2_", "fo1_"], Base64, 40, Edge::Word),
    (&["nfp_", "ddp_", "napi_", "rnd_", "ntn_"], Alnum, 28, Edge::Word),
    (&["v1.0-"], Hex, 24, Edge::Word),
    // Chat and mail
    (
        &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"],
        Word,
        10,
        Edge::Free,
    ),
    (
        &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"],
        Path,
        10,
        Edge::Free,
    ),
    (&["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"], Path, 10, Edge::Free),
    (&["webhook.office.com/webhookb2/"], Path, 10, Edge::Free),
    (&["api.telegram.org/bot"], Path, 10, Edge::Free),
    (&["mfa."], Word, 40, Edge::Word),
    (&["SG."], Dotted, 40, Edge::Word),
    (&["key-"], Hex, 32, Edge::Exact),
    (&["SK"], Hex, 32, Edge::Exact),
    (&["xkeysib-", "xsmtpsib-"], Word, 40, Edge::Free),
    (&["re_"], Word, 24, Edge::Mixed),
    // Payment and trade
    (&["sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "whsec_"], Alnum, 12, Edge::Free),
    (&["pk_test_"], Alnum, 16, Edge::Mixed),
    (&["sq0atp-", "sq0csp-", "sq0idp-"], Word, 20, Edge::Free),
    (&["EAAA", "EAAB", "EAAC"], Word, 50, Edge::Mixed),
    (&["access_token$production$"], Alnum, 16, Edge::Free),
    (&["access-production-", "access-sandbox-", "access-development-"], Word, 30, Edge::Free),
    (&["shpat_", "shpca_", "shppa_", "shpss_"], Hex, 32, Edge::Free),
    (&["shippo_live_", "shippo_test_"], Hex, 32, Edge::Free),
    (&["FLWSECK-", "FLWSECK_TEST-", "FLWPUBK_TEST-"], Word, 12, Edge::Free),
    (&["EZAK", "EZTK"], Alnum, 50, Edge::Word),
    (&["duffel_live_", "duffel_test_"], Word, 30, Edge::Free),
    // Packages
    (&["npm_"], Alnum, 30, Edge::Word),
    (&["pypi-"], Word, 30, Edge::Mixed),
    (&["cio"], Alnum, 32, Edge::Exact),
    (&["dckr_pat_", "dckr_oat_"], Word, 20, Edge::Free),
    (&["rubygems_"], Hex, 40, Edge::Free),
    (&["oy2"], Alnum, 43, Edge::Exact),
    (&["CLOJARS_"], Alnum, 40, Edge::Free),
    (&["AKCp"], Alnum, 40, Edge::Word),
    // Tools of the trade
    (&["ATATT3", "ATCTT3"], Base64, 40, Edge::Free),
    (&["ATBB"], Alnum, 24, Edge::Mixed),
    (&["lin_api_", "lin_oauth_"], Alnum, 30, Edge::Free),
    (&["secret_"], Alnum, 32, Edge::Mixed),
    (&["figd_", "figo_", "figu_", "figdr_"], Word, 30, Edge::Free),
    (&["PMAK-"], Word, 30, Edge::Free),
    (&["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], Dotted, 30, Edge::Word),
    (&["dt0c01.", "dt0s01."], Dotted, 30, Edge::Free),
    (&["glsa_"], Word, 30, Edge::Free),
    (&["glc_"], Base64, 32, Edge::Word),
    (&["hvs.", "hvb.", "hvr."], Word, 20, Edge::Word),
    (&[".atlasv1."], Word, 40, Edge::Free),
    (&["NRAK-", "NRII-", "NRJS-", "NRRA-"], Word, 18, Edge::Free),
    (&["sha256~"], Word, 40, Edge::Free),
    (&["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], Dotted, 24, Edge::Free),
    (&["pul-"], Hex, 40, Edge::Word),
    (&["pnu_"], Alnum, 36, Edge::Word),
    (&["rdme_"], Alnum, 40, Edge::Free),
    (&["sntrys_"], Base64, 40, Edge::Free),
    (&["sntryu_"], Hex, 40, Edge::Free),
    (&["sgp_"], Word, 40, Edge::Word),
    (&["squ_", "sqp_", "sqa_"], Hex, 40, Edge::Word),
    (&["bkua_"], Hex, 40, Edge::Free),
    (&["CCIPAT_", "CCIPRJ_"], Word, 30, Edge::Free),
    (&["phc_", "phx_"], Alnum, 32, Edge::Word),
    (&["tfp_"], Dotted, 40, Edge::Word),
    (&["CFPAT-"], Word, 30, Edge::Free),
    (&["fio-u-"], Word, 40, Edge::Free),
    (&["aio_"], Alnum, 28, Edge::Exact),
    (&["API-"], Alnum, 26, Edge::Exact),
    (&["tk-us-"], Word, 40, Edge::Free),
    (&["ico-"], Alnum, 32, Edge::Exact),
    (&["ops_eyJ"], Base64, 40, Edge::Free),
    (&["AGE-SECRET-KEY-1"], Alnum, 30, Edge::Free),
    (&["AGE-PLUGIN-"], Word, 30, Edge::Free),
];

impl Body {
    pub(crate) fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Base64 => byte.is_ascii_alphanumeric() || b"_-+/=,".contains(&byte),
            Self::Path => byte.is_ascii_alphanumeric() || b"_-+/=.:%~@&?".contains(&byte),
        }
    }
}
