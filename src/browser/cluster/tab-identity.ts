/**
 * Certificates, keys and tokens of a cluster in a browser tab. They are fixed and public: no request reaches such a cluster from outside
 * of its page, and arithmetic on fixed keys needs neither files nor the browser's asynchronous cryptography.
 */
import { ADMINISTRATOR } from "../../api/identities.ts";
import { selfIssuer, writeCertificate } from "../../api/machinery/x509/certificate-writer.ts";
import { p256Key } from "../../api/machinery/x509/p256-signer.ts";
import { pemText } from "../../api/machinery/x509/pem.ts";
import type { Identity } from "../../apiserver/framework/identity.ts";
import type { ControllerSettings } from "../../controllers/all.ts";

/** Bearer token of the page's own requests, as the administrator. */
export const PAGE_TOKEN = "page";

/** As the standard issuer of an API server in a cluster. */
const ISSUER = "https://kubernetes.default.svc.cluster.local";
const SUBJECT = { commonName: "kubernetes", organizations: [] };
const AUTHORITY_SECRET = 0x6b38_7473_7461_6201n;
const TOKEN_SECRET = 0x6b38_7473_7461_6202n;
/** Covers every virtual time that a page reaches. */
const VALIDITY = { fromMs: Date.UTC(2020, 0, 1), toMs: Date.UTC(2220, 0, 1) };

export interface TabIdentity {
  readonly identity: Identity;
  readonly controllers: ControllerSettings;
}

/**
 * What follows from the secrets, computed beforehand: the arithmetic would take a tenth of the processor time of a start. The test computes
 * it again.
 */
const AUTHORITY_POINT =
  "04031cb504542e1f33d4171feb1ba210a2c186305aeac26d7bc9716b6effdb443893214e1da053a5a7ca8ee3ce85e81aac976dda5abdd23571ac3273428608a502";
const TOKEN_POINT =
  "048f0225ae817a4ff834815d3678df192f43b63d9cfc50315d9b93534ef0cd6db9db26f09ed26e023fc37a92538703bfc354fabcc055a85f2d7bd2d0107610fa3d";
const AUTHORITY = `-----BEGIN CERTIFICATE-----
MIIBfzCCASSgAwIBAgIBATAKBggqhkjOPQQDAjAVMRMwEQYDVQQDDAprdWJlcm5l
dGVzMCAXDTIwMDEwMTAwMDAwMFoYDzIyMjAwMTAxMDAwMDAwWjAVMRMwEQYDVQQD
DAprdWJlcm5ldGVzMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEAxy1BFQuHzPU
Fx/rG6IQosGGMFrqwm17yXFrbv/bRDiTIU4doFOlp8qO486F6Bqsl23aWr3SNXGs
MnNChgilAqNjMGEwDgYDVR0PAQH/BAQDAgKEMA8GA1UdEwEB/wQFMAMBAf8wHQYD
VR0OBBYEFFHUm/E6HZjuEuJPYAz+YyF0w7RBMB8GA1UdIwQYMBaAFFHUm/E6HZju
EuJPYAz+YyF0w7RBMAoGCCqGSM49BAMCA0kAMEYCIQCMbLUX2qsLfVF/+hdQG1tz
iDTMnTmJfC+jrM821a17JQIhAJa34dioFGfJAssjM+LvW03qTyurhNxWM/9il8Lk
LMyk
-----END CERTIFICATE-----
`;

/** The certificate and the public points, computed from the secrets. */
export function computeIdentity(): { readonly authority: string; readonly points: readonly Uint8Array[] } {
  const { signer } = p256Key(AUTHORITY_SECRET);
  const certificate = writeCertificate(
    {
      subject: SUBJECT,
      publicKey: signer.publicKey,
      validity: VALIDITY,
      serialNumber: Uint8Array.of(1),
      isAuthority: true,
      keyUsages: ["digitalSignature", "certSign"],
    },
    selfIssuer(SUBJECT, signer),
  );
  const pointOf = (publicKey: Uint8Array) => publicKey.subarray(-AUTHORITY_POINT.length / 2);
  return {
    authority: pemText("CERTIFICATE", certificate),
    points: [pointOf(signer.publicKey), pointOf(p256Key(TOKEN_SECRET).signer.publicKey)],
  };
}

/** "04031c…" */
function bytesOf(hexadecimal: string): Uint8Array {
  return Uint8Array.from(hexadecimal.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

export function tabIdentity(): TabIdentity {
  const { signer: authoritySigner } = p256Key(AUTHORITY_SECRET, bytesOf(AUTHORITY_POINT));
  const authority = AUTHORITY;
  const { signer, verifier } = p256Key(TOKEN_SECRET, bytesOf(TOKEN_POINT));
  return {
    identity: {
      anonymous: false,
      serverAuthority: authority,
      serviceAccounts: {
        issuers: [ISSUER],
        audiences: [ISSUER],
        signer,
        signerKeyId: verifier.keyId,
        verifiers: [verifier],
        extendsExpiration: true,
      },
      bootstrapTokens: false,
      staticTokens: new Map([[PAGE_TOKEN, ADMINISTRATOR]]),
      openIdIssuers: [],
    },
    controllers: {
      rootCa: authority,
      signing: { certificate: authority, signer: authoritySigner },
      tokenSigner: { signer, keyId: verifier.keyId },
    },
  };
}
