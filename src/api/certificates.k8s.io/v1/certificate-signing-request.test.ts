import assert from "node:assert/strict";
import test from "node:test";
import { encodeBase64 } from "../../machinery/codec/base64.ts";
import type { JsonObject } from "../../machinery/object.ts";
import { bytesOf, CERTIFICATE, REQUESTS, UNTRUSTED_REQUESTS } from "../../machinery/x509/testing/samples.ts";
import {
  cellsOf,
  changedObject,
  columnNames,
  newObject,
  problemsOfChange,
  problemsOfNew,
  received,
  testWrite,
} from "../../testing/kind.ts";
import { certificateSigningRequests } from "./certificate-signing-request.ts";

const base64 = (text: string) => encodeBase64(bytesOf(text));
const SPEC: JsonObject = { request: base64(REQUESTS.P256), signerName: "example.com/signer", usages: ["client auth"] };
const CERTIFICATE_DATA = base64(CERTIFICATE);
const APPROVED: JsonObject = { type: "Approved", status: "True", reason: "R", message: "m" };
const DENIED: JsonObject = { ...APPROVED, type: "Denied" };
const FAILED: JsonObject = { ...APPROVED, type: "Failed" };
const T0 = "2024-01-01T00:00:00Z";

/** A stored object with this status. */
function stored(status: JsonObject, spec: JsonObject = SPEC) {
  return received(certificateSigningRequests, { spec, status });
}

test("the server sets the requester's identity, whatever the client sends", () => {
  const user = { name: "jane", uid: "7", groups: ["devs"], extra: { scopes: ["a", "b"] } };
  const said = { username: "root", uid: "0", groups: ["system:masters"], extra: { x: ["y"] } };
  const sent = received(certificateSigningRequests, { spec: { ...SPEC, ...said }, status: { conditions: [APPROVED] } });

  const recorded = certificateSigningRequests.prepareForCreate?.(sent, { user, nowMs: 0 });
  const nameless = certificateSigningRequests.prepareForCreate?.(sent, { user: { name: "", groups: [] }, nowMs: 0 });

  assert.deepEqual(recorded?.spec, { ...SPEC, username: "jane", uid: "7", groups: ["devs"], extra: { scopes: ["a", "b"] } });
  assert.deepEqual(recorded?.status, {});
  assert.deepEqual(nameless?.spec, SPEC);
});

const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const USAGES =
  '"any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping"';
const long = "a".repeat(63);

const ROWS: readonly [title: string, spec: JsonObject, problems: readonly string[]][] = [
  ["all it needs", SPEC, []],
  ["a time that is just enough", { ...SPEC, expirationSeconds: 600 }, []],
  [
    "nothing",
    {},
    [
      "spec.request: Invalid value: null: PEM block type must be CERTIFICATE REQUEST",
      "spec.usages: Required value",
      "spec.signerName: Required value",
    ],
  ],
  [
    "a certificate in the place of a request",
    { ...SPEC, request: CERTIFICATE_DATA },
    [`spec.request: Invalid value: "${CERTIFICATE_DATA}": PEM block type must be CERTIFICATE REQUEST`],
  ],
  [
    "a request that is not signed as one should",
    { ...SPEC, request: base64(UNTRUSTED_REQUESTS.MD5) },
    [`spec.request: Invalid value: "${base64(UNTRUSTED_REQUESTS.MD5)}": x509: cannot verify signature: insecure algorithm MD5-RSA`],
  ],
  [
    "usages that there are not, or twice",
    { ...SPEC, usages: ["flying", "any", "any"] },
    [`spec.usages[0]: Unsupported value: "flying": supported values: ${USAGES}`, 'spec.usages[2]: Duplicate value: "any"'],
  ],
  [
    "too short a time",
    { ...SPEC, expirationSeconds: 599 },
    ["spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"],
  ],
  [
    "the signer of old",
    { ...SPEC, signerName: "kubernetes.io/legacy-unknown" },
    ['spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version'],
  ],
  [
    "a signer without a domain",
    { ...SPEC, signerName: "signer" },
    ["spec.signerName: Invalid value: \"signer\": must be a fully qualified domain and path of the form 'example.com/signer-name'"],
  ],
  [
    "a signer of a domain that is none",
    { ...SPEC, signerName: "A/B" },
    [
      `spec.signerName: Invalid value: "A": validating label "A": ${LABEL}`,
      'spec.signerName: Invalid value: "A": should be a domain with at least two segments separated by dots',
      `spec.signerName: Invalid value: "B": validating label "B": ${SUBDOMAIN}`,
    ],
  ],
  [
    "a signer of a name that is too long",
    { ...SPEC, signerName: `${[long, long, long, long].join(".")}/${[long, long, long, long, long, long].join(".")}` },
    ["spec.signerName: Too long: may not be more than 253 bytes", "spec.signerName: Too long: may not be more than 571 bytes"],
  ],
];

for (const [title, spec, problems] of ROWS) {
  test(`a CertificateSigningRequest with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(certificateSigningRequests, { spec }), problems);
  });
}

test("an update by the object's own path changes neither spec nor status", () => {
  const previous = stored({ conditions: [APPROVED] });
  const next = changedObject(certificateSigningRequests, previous, { spec: {}, status: { certificate: CERTIFICATE_DATA } });

  assert.deepEqual([next.spec, next.status], [previous.spec, previous.status]);
  assert.deepEqual(problemsOfChange(certificateSigningRequests, previous, {}), []);
});

test("any path segment is a valid name of a CertificateSigningRequest", () => {
  assert.deepEqual(certificateSigningRequests.validateName?.("A b:c"), []);
  assert.deepEqual(certificateSigningRequests.validateName?.("a/b"), ["may not contain '/'"]);
});

test("values stored before a rule existed remain valid", () => {
  const spec = { ...SPEC, usages: ["flying", "flying"], signerName: "kubernetes.io/legacy-unknown" };
  const conditions = [APPROVED, DENIED, DENIED, { type: "", status: "True" }];

  assert.deepEqual(problemsOfChange(certificateSigningRequests, stored({ conditions, certificate: "AAAA" }, spec), {}), []);
  assert.equal(problemsOfNew(certificateSigningRequests, { spec }).length, 4);
});

test("omitted times of an approval are set by the server", () => {
  const previous = stored({ certificate: CERTIFICATE_DATA });
  const approved = changedObject(certificateSigningRequests, previous, { spec: {}, status: { conditions: [APPROVED] } }, "approval");
  const now = "1970-01-01T00:00:00Z";

  assert.deepEqual(approved.spec, previous.spec);
  assert.deepEqual(approved.status, {
    conditions: [{ ...APPROVED, lastUpdateTime: now, lastTransitionTime: now }],
    certificate: CERTIFICATE_DATA,
  });
  assert.deepEqual(problemsOfChange(certificateSigningRequests, previous, { status: { conditions: [APPROVED] } }, "approval"), []);
});

test("an unchanged condition keeps its transition time, and given times are kept", () => {
  const previous = stored({ conditions: [{ ...APPROVED, lastUpdateTime: T0, lastTransitionTime: T0 }] });
  const again = { ...APPROVED, message: "again" };
  const timed = { ...FAILED, lastUpdateTime: T0, lastTransitionTime: T0 };
  const { status } = changedObject(certificateSigningRequests, previous, { status: { conditions: [again, timed] } }, "approval");

  assert.deepEqual(status?.conditions, [{ ...again, lastUpdateTime: "1970-01-01T00:00:00Z", lastTransitionTime: T0 }, timed]);
});

test("a status write keeps the approval conditions", () => {
  const decision = { ...APPROVED, lastUpdateTime: T0, lastTransitionTime: T0 };
  const previous = stored({ conditions: [decision] });
  const sent = { status: { conditions: [FAILED, { ...APPROVED, message: "other" }], certificate: CERTIFICATE_DATA } };
  const { status } = changedObject(certificateSigningRequests, previous, sent, "status");

  assert.deepEqual(status?.conditions?.[1], decision);
  assert.equal(status?.certificate, CERTIFICATE_DATA);
  assert.deepEqual(problemsOfChange(certificateSigningRequests, previous, sent, "status"), []);
});

const EITHER = "Approved and Denied conditions are mutually exclusive";

const CHANGES: readonly [title: string, path: "approval" | "status", before: JsonObject, after: JsonObject, problems: readonly string[]][] =
  [
    ["both decisions", "approval", {}, { conditions: [APPROVED, DENIED] }, [`status.conditions: Invalid value: "Denied": ${EITHER}`]],
    [
      "both decisions the other way round",
      "approval",
      {},
      { conditions: [DENIED, APPROVED] },
      [`status.conditions: Invalid value: "Approved": ${EITHER}`],
    ],
    [
      "conditions that are none",
      "approval",
      {},
      {
        conditions: [
          { ...APPROVED, status: "False" },
          { type: "", status: "" },
          { type: "X", status: "y" },
          { type: "X", status: "Unknown" },
        ],
      },
      [
        'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
        "status.conditions[1].type: Required value",
        "status.conditions[1].status: Required value",
        'status.conditions[2].status: Unsupported value: "y": supported values: "False", "True", "Unknown"',
        'status.conditions[3].type: Duplicate value: "X"',
      ],
    ],
    [
      "no decision where there was one",
      "approval",
      { conditions: [APPROVED, FAILED] },
      {},
      [
        'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
        'status.conditions: Forbidden: updates may not remove a condition of type "Failed"',
      ],
    ],
    [
      "another decision",
      "approval",
      { conditions: [APPROVED] },
      { conditions: [DENIED] },
      ['status.conditions: Forbidden: updates may not remove a condition of type "Approved"'],
    ],
    [
      "a decision",
      "status",
      {},
      { conditions: [APPROVED] },
      ['status.conditions: Forbidden: updates may not add a condition of type "Approved"'],
    ],
    ["a certificate", "status", { conditions: [APPROVED] }, { conditions: [APPROVED], certificate: CERTIFICATE_DATA }, []],
    [
      "another certificate",
      "status",
      { certificate: CERTIFICATE_DATA },
      { certificate: base64(`${CERTIFICATE}${CERTIFICATE}`) },
      ["status.certificate: Forbidden: updates may not modify existing certificate content"],
    ],
    [
      "something else than a certificate",
      "status",
      {},
      { certificate: base64("hello") },
      ['status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block'],
    ],
    [
      "a request in the place of a certificate",
      "status",
      {},
      { certificate: SPEC["request"] },
      ['status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"'],
    ],
    [
      "a certificate with headers",
      "status",
      {},
      { certificate: base64(CERTIFICATE.replace("CERTIFICATE-----\n", "CERTIFICATE-----\na: b\n\n")) },
      ['status.certificate: Invalid value: "<certificate data>": no PEM block headers are permitted'],
    ],
    [
      "an empty certificate",
      "status",
      {},
      { certificate: base64("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n") },
      ['status.certificate: Invalid value: "<certificate data>": found CERTIFICATE PEM block containing 0 certificates'],
    ],
    [
      "a broken certificate",
      "status",
      {},
      { certificate: base64("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n") },
      ['status.certificate: Invalid value: "<certificate data>": x509: malformed certificate'],
    ],
  ];

for (const [title, path, before, after, problems] of CHANGES) {
  test(`${title} by the path "${path}" is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfChange(certificateSigningRequests, stored(before), { status: after }, path), problems);
  });
}

const CELLS: readonly [status: JsonObject, cell: string][] = [
  [{}, "Pending"],
  [{ conditions: [APPROVED] }, "Approved"],
  [{ conditions: [APPROVED, DENIED] }, "Denied"],
  [{ conditions: [APPROVED, FAILED], certificate: CERTIFICATE_DATA }, "Approved,Failed,Issued"],
];

for (const [status, cell] of CELLS) {
  test(`the table of CertificateSigningRequests shows ${cell} for its conditions`, () => {
    const request = {
      ...newObject(certificateSigningRequests, { spec: { ...SPEC, expirationSeconds: 3_600 } }),
      ...{ status: stored(status).status ?? {} },
    };

    assert.deepEqual(columnNames(certificateSigningRequests), [
      ...["Name", "Age", "SignerName", "Requestor", "RequestedDuration", "Condition"],
    ]);
    assert.deepEqual(Object.values(cellsOf(certificateSigningRequests, request)), [
      ...["x", "<unknown>", "example.com/signer", testWrite.user.name, "60m", cell],
    ]);
  });
}

test("CertificateSigningRequests are selected by signer", () => {
  assert.equal(certificateSigningRequests.selectableFields["spec.signerName"]?.(stored({})), "example.com/signer");
});
