//! The table of secrets that can be told by their form: how each begins, and what follows.

/// One form of a secret.
#[derive(Debug)]
pub(super) struct Kind {
    /// What stands in its place, between `[secret: ` and `]`.
    pub(super) name: &'static str,
    /// What every secret of this form holds; nothing else is looked at without one of these.
    pub(super) keywords: &'static [&'static str],
    /// The form, from the beginning of the keyword; a group called `s` is the secret alone.
    pub(super) form: &'static str,
    /// How random what follows has to be, in bits for each character.
    pub(super) entropy: f32,
    /// Where it may stand.
    pub(super) place: Place,
}

/// Where a secret may stand in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// At the beginning of a word.
    Word,
    /// At the beginning of a word that is not a piece of something encoded: pictures are full of such pieces.
    Alone,
    /// The keyword stands inside: the secret begins so many letters, digits and signs before it, at most.
    Inside(usize),
    /// Anywhere.
    Anywhere,
}

const fn word(name: &'static str, keywords: &'static [&'static str], form: &'static str) -> Kind {
    Kind { name, keywords, form, entropy: 2.5, place: Place::Word }
}

const fn alone(name: &'static str, keywords: &'static [&'static str], form: &'static str) -> Kind {
    Kind { name, keywords, form, entropy: 3.0, place: Place::Alone }
}

const fn anywhere(
    name: &'static str,
    keywords: &'static [&'static str],
    form: &'static str,
) -> Kind {
    Kind { name, keywords, form, entropy: 0.0, place: Place::Anywhere }
}

const fn inside(name: &'static str, keywords: &'static [&'static str], form: &'static str) -> Kind {
    Kind { name, keywords, form, entropy: 3.0, place: Place::Inside(24) }
}

/// Every form. Where two fit the same words, the earlier one gives the name.
#[rustfmt::skip] // One form a row reads as a table.
pub(super) const KINDS: &[Kind] = &[
    // Keys in blocks.
    anywhere("private-key", &["-----BEGIN "], r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)"),
    anywhere("private-key", &["PuTTY-User-Key-File-"], r"PuTTY-User-Key-File-[23]:(?s:.*?)Private-MAC: ?[0-9a-fA-F]{40,64}"),
    anywhere("private-key", &["-----BEGIN OpenVPN Static"], r"-----BEGIN OpenVPN Static key V1-----(?s:.*?)(?:-----END OpenVPN Static key V1-----|\z)"),
    word("age-key", &["AGE-SECRET-KEY-1"], r"AGE-SECRET-KEY-1[A-Z0-9]{50,70}"),
    word("extended-private-key", &["xprv", "yprv", "zprv", "tprv"], r"[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,112}"),
    // Models.
    word("anthropic-key", &["sk-ant-"], r"sk-ant-[a-z]{2,10}[0-9]{2}-[A-Za-z0-9_-]{24,}"),
    word("openrouter-key", &["sk-or-"], r"sk-or-v[0-9]-[0-9a-f]{32,}"),
    word("openai-key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], r"sk-[A-Za-z]+-[A-Za-z0-9_-]{20,}"),
    Kind { name: "openai-key", keywords: &["sk-"], form: r"sk-(?:[A-Za-z0-9]{20,}|[A-Za-z0-9_-]{4,}[0-9][A-Za-z0-9_-]{12,})", entropy: 3.0, place: Place::Word },
    word("huggingface-token", &["hf_", "api_org_"], r"(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    word("groq-key", &["gsk_"], r"gsk_[A-Za-z0-9]{40,}"),
    word("xai-key", &["xai-"], r"xai-[A-Za-z0-9]{60,}"),
    word("perplexity-key", &["pplx-"], r"pplx-[A-Za-z0-9]{32,}"),
    word("replicate-token", &["r8_"], r"r8_[A-Za-z0-9]{36,}"),
    word("tavily-key", &["tvly-"], r"tvly-(?:[a-z]+-)?[A-Za-z0-9]{20,}"),
    word("nvidia-key", &["nvapi-"], r"nvapi-[A-Za-z0-9_-]{50,}"),
    word("fireworks-key", &["fw_"], r"fw_[A-Za-z0-9]{22,}"),
    word("langsmith-key", &["lsv2_"], r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    alone("voyage-key", &["pa-"], r"pa-[A-Za-z0-9_-]{40,}"),
    // Clouds.
    alone("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}"),
    alone("aws-bedrock-key", &["ABSK"], r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    word("google-key", &["AIza"], r"AIza[0-9A-Za-z_-]{35}"),
    word("google-oauth-token", &["ya29."], r"ya29\.[0-9A-Za-z_.-]{30,}"),
    word("google-oauth-token", &["1//0"], r"1//0[0-9A-Za-z_-]{60,}"),
    word("google-client-secret", &["GOCSPX-"], r"GOCSPX-[0-9A-Za-z_-]{24,}"),
    Kind { name: "azure-client-secret", keywords: &["Q~"], form: r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", entropy: 3.0, place: Place::Inside(4) },
    Kind { name: "azure-sas", keywords: &["sig="], form: r"sig=(?P<s>[A-Za-z0-9%+/_-]{40,90})", entropy: 3.5, place: Place::Word },
    word("alibaba-key", &["LTAI"], r"LTAI[A-Za-z0-9]{12,26}"),
    word("tencent-key", &["AKID"], r"AKID[A-Za-z0-9]{32}"),
    alone("yandex-key", &["AQVN"], r"AQVN[A-Za-z0-9_-]{35,38}"),
    word("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_", "dot_v1_"], r"do[oprt]_v1_[0-9a-f]{64}"),
    word("heroku-key", &["HRKU-"], r"HRKU-[A-Za-z0-9_-]{36,}"),
    word("fly-token", &["fm1_", "fm2_", "fo1_"], r"f(?:m[12]|o1)_[A-Za-z0-9+/_-]{40,}={0,2}(?:,f[mo][12]_[A-Za-z0-9+/_-]{20,}={0,2})*"),
    word("vercel-token", &["vcp_", "vci_", "vca_", "vcr_", "vck_"], r"vc[piark]_[A-Za-z0-9]{24,}"),
    word("netlify-token", &["nfp_", "nfo_", "nfc_"], r"nf[poc]_[A-Za-z0-9]{36,}"),
    word("render-key", &["rnd_"], r"rnd_[A-Za-z0-9]{28,}"),
    word("supabase-key", &["sbp_", "sb_secret_"], r"(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,})"),
    word("neon-key", &["napi_"], r"napi_[A-Za-z0-9]{40,}"),
    word("planetscale-token", &["pscale_"], r"pscale_(?:tkn|pw|oauth|otkn|app_secret)_[A-Za-z0-9=._-]{32,}"),
    word("cloudflare-origin-key", &["v1.0-"], r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    word("databricks-token", &["dapi"], r"dapi[0-9a-f]{32}(?:-[0-9])?"),
    word("ibm-cloud-key", &["ibmcloud_api_key_"], r"ibmcloud_api_key_[A-Za-z0-9_-]{40,}"),
    word("scalingo-token", &["tk-us-"], r"tk-us-[A-Za-z0-9_-]{40,}"),
    word("tailscale-key", &["tskey-"], r"tskey-[a-z]+-[A-Za-z0-9]{6,}-[A-Za-z0-9]{20,}"),
    // Keepers of secrets.
    word("vault-token", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    inside("terraform-token", &[".atlasv1."], r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}"),
    word("pulumi-token", &["pul-"], r"pul-[0-9a-f]{40}"),
    word("doppler-token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    word("1password-token", &["ops_eyJ"], r"ops_eyJ[A-Za-z0-9+/_-]{200,}={0,3}"),
    word("1password-key", &["A3-"], r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}"),
    // Code and packages.
    word("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_[A-Za-z0-9_]{36,}"),
    word("github-token", &["github_pat_"], r"github_pat_[A-Za-z0-9_]{50,}"),
    word("gitlab-token", &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-"], r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.-]{20,}"),
    word("gitlab-token", &["GR1348941"], r"GR1348941[A-Za-z0-9_-]{20}"),
    alone("bitbucket-password", &["ATBB"], r"ATBB[A-Za-z0-9]{28,36}"),
    word("atlassian-token", &["ATATT3", "ATCTT3"], r"AT[AC]TT3[A-Za-z0-9_=-]{60,}"),
    word("npm-token", &["npm_"], r"npm_[A-Za-z0-9]{36}"),
    word("pypi-token", &["pypi-AgE"], r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    word("rubygems-key", &["rubygems_"], r"rubygems_[0-9a-f]{48}"),
    alone("crates-token", &["cio"], r"cio[A-Za-z0-9]{32}"),
    word("docker-token", &["dckr_pat_", "dckr_oat_"], r"dckr_[po]at_[A-Za-z0-9_-]{24,}"),
    alone("nuget-key", &["oy2"], r"oy2[a-z0-9]{43}"),
    word("clojars-token", &["CLOJARS_"], r"CLOJARS_[0-9a-z]{60}"),
    alone("artifactory-key", &["AKCp"], r"AKCp[A-Za-z0-9]{60,}"),
    alone("artifactory-token", &["cmVmd"], r"cmVmd[A-Za-z0-9]{59}"),
    word("sonar-token", &["sqp_", "squ_", "sqa_"], r"sq[pua]_[0-9a-f]{40}"),
    word("sourcegraph-token", &["sgp_", "slk_"], r"(?:sgp_(?:(?:[0-9a-f]{16}|local)_)?[0-9a-f]{40}|slk_[0-9a-f]{64})"),
    word("postman-key", &["PMAK-"], r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    word("prefect-key", &["pnu_", "pnb_"], r"pn[ub]_[A-Za-z0-9]{36}"),
    word("launchdarkly-key", &["sdk-", "api-"], r"(?:sdk|api)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    word("buildkite-token", &["bkua_"], r"bkua_[0-9a-f]{40}"),
    word("circleci-token", &["CCIPAT_", "CCIPRJ_"], r"CCIP(?:AT|RJ)_[A-Za-z0-9]{20,24}_[0-9a-f]{40}"),
    word("scaleway-key", &["SCW"], r"SCW[A-Z0-9]{17}"),
    word("jfrog-token", &["ref01:"], r"ref01:[0-9]{10}:[A-Za-z0-9]{20,}"),
    // Watching.
    word("grafana-token", &["glsa_", "glc_"], r"gl(?:sa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|c_[A-Za-z0-9+/]{32,}={0,2})"),
    word("newrelic-key", &["NRAK-", "NRII-", "NRRA-", "NRSP-", "NRJS-"], r"NR(?:AK|II|RA|SP|JS)-[A-Za-z0-9_-]{19,}"),
    word("sentry-token", &["sntrys_", "sntryu_"], r"(?:sntrys_eyJ[A-Za-z0-9+/=_-]{60,}|sntryu_[0-9a-f]{64})"),
    word("dynatrace-token", &["dt0c01.", "dt0s01.", "dt0s02."], r"dt0[cs]0[12]\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    word("honeycomb-key", &["hcaik_", "hcalk_", "hcxik_"], r"hc[ax][il]k_[a-z0-9]{26,}"),
    word("posthog-key", &["phx_"], r"phx_[A-Za-z0-9]{40,}"),
    // Talking and mailing.
    word("slack-token", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxc-", "xoxd-", "xoxe."], r"xox[a-z](?:\.xox[bp])?-[A-Za-z0-9%/+=-]{20,}"),
    word("slack-token", &["xapp-"], r"xapp-[0-9]-[A-Za-z0-9]+-[0-9]+-[A-Za-z0-9]{20,}"),
    anywhere("slack-webhook", &["hooks.slack.com/"], r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<s>[A-Za-z0-9+/_-]{30,80})"),
    anywhere("discord-webhook", &["/api/webhooks/"], r"/api/webhooks/(?P<s>[0-9]{15,21}/[A-Za-z0-9_-]{40,90})"),
    Kind { name: "discord-token", keywords: &["MT", "Mz", "Mj", "ND", "NT", "NW", "Nz", "Nj", "OD", "OT"], form: r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}", entropy: 3.5, place: Place::Alone },
    anywhere("teams-webhook", &[".webhook.office.com/"], r"\.webhook\.office\.com/webhookb2/(?P<s>[0-9a-f@-]{70,80}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36}[A-Za-z0-9/_-]*)"),
    Kind { name: "telegram-token", keywords: &[":AA"], form: r"[0-9]{8,12}:AA[A-Za-z0-9_-]{32,34}", entropy: 3.0, place: Place::Inside(12) },
    word("twilio-key", &["SK", "AC"], r"(?:SK|AC)[0-9a-f]{32}"),
    word("sendgrid-key", &["SG."], r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    word("mailgun-key", &["key-", "pubkey-"], r"(?:pub)?key-[0-9a-f]{32}"),
    Kind { name: "mailchimp-key", keywords: &["-us"], form: r"[0-9a-f]{32}-us[0-9]{1,2}", entropy: 3.0, place: Place::Inside(32) },
    word("brevo-key", &["xkeysib-", "xsmtpsib-"], r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    word("resend-key", &["re_"], r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,28}"),
    // Paying.
    word("stripe-key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_"], r"[srp]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    word("stripe-webhook-secret", &["whsec_"], r"whsec_[A-Za-z0-9+/]{24,}={0,2}"),
    word("square-token", &["sq0atp-", "sq0csp-", "sq0idp-"], r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}"),
    alone("square-token", &["EAAA"], r"EAAA[A-Za-z0-9_-]{60}"),
    word("braintree-token", &["access_token$"], r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    word("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_"], r"shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32}"),
    word("plaid-token", &["access-sandbox-", "access-development-", "access-production-"], r"access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    word("razorpay-key", &["rzp_live_", "rzp_test_"], r"rzp_(?:live|test)_[A-Za-z0-9]{14,}"),
    word("flutterwave-key", &["FLWSECK"], r"FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12,40}(?:-X)?"),
    word("shippo-token", &["shippo_live_", "shippo_test_"], r"shippo_(?:live|test)_[0-9a-f]{40}"),
    word("easypost-key", &["EZAK", "EZTK"], r"EZ[AT]K[A-Za-z0-9]{54}"),
    word("duffel-token", &["duffel_test_", "duffel_live_"], r"duffel_(?:test|live)_[A-Za-z0-9_-]{40,}"),
    // Work.
    word("linear-key", &["lin_api_", "lin_oauth_"], r"lin_(?:api|oauth)_[A-Za-z0-9]{40,}"),
    word("notion-token", &["ntn_"], r"ntn_[A-Za-z0-9]{40,}"),
    word("notion-token", &["secret_"], r"secret_[A-Za-z0-9]{43}"),
    word("airtable-token", &["pat"], r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    word("clickup-token", &["pk_"], r"pk_[0-9]{6,10}_[A-Z0-9]{32}"),
    word("figma-token", &["figd_", "figo_", "figu_"], r"fig[dou]_[A-Za-z0-9_-]{36,}"),
    word("asana-token", &["1/", "2/"], r"[12]/[0-9]{13,17}(?:/[0-9]{13,17})?:[0-9a-f]{32}"),
    word("dropbox-token", &["sl."], r"sl\.(?:u\.)?[A-Za-z0-9_-]{120,}"),
    word("typeform-token", &["tfp_"], r"tfp_[A-Za-z0-9_.=-]{55,}"),
    word("contentful-token", &["CFPAT-"], r"CFPAT-[A-Za-z0-9_-]{43}"),
    word("mapbox-token", &["sk.eyJ", "tk.eyJ"], r"[st]k\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"),
    alone("facebook-token", &["EAA"], r"EAA[A-Za-z0-9]{90,}"),
    alone("instagram-token", &["IGQV", "IGAA"], r"IG(?:QV|AA)[A-Za-z0-9_-]{90,}"),
    alone("twitter-bearer-token", &["AAAAAAAAAAAAAAAAAAAA"], r"A{20,22}[A-Za-z0-9%]{70,110}"),
    word("hubspot-token", &["pat-na", "pat-eu"], r"pat-(?:na|eu)[0-9]-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    word("readme-key", &["rdme_"], r"rdme_[a-z0-9]{60,}"),
    word("intra42-secret", &["s-s4t2"], r"s-s4t2(?:ud|af)-[0-9a-f]{64}"),
    word("adobe-secret", &["p8e-", "p8-"], r"p8e?-[A-Za-z0-9_-]{30,}"),
    // Our own, and what anybody makes.
    word("hermes-token", &["hermes_"], r"hermes_[0-9a-f]{40,}"),
    word("jwt", &["eyJ"], r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{10,})?"),
    word("jwt", &["eyJ"], r"eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){2}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
];
