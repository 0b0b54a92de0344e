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

export function tabIdentity(): TabIdentity {
  const { signer: authoritySigner } = p256Key(AUTHORITY_SECRET);
  const authority = pemText(
    "CERTIFICATE",
    writeCertificate(
      {
        subject: SUBJECT,
        publicKey: authoritySigner.publicKey,
        validity: VALIDITY,
        serialNumber: Uint8Array.of(1),
        isAuthority: true,
        keyUsages: ["digitalSignature", "certSign"],
      },
      selfIssuer(SUBJECT, authoritySigner),
    ),
  );
  const { signer, verifier } = p256Key(TOKEN_SECRET);
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
