/** What controllers are told in tests that are not about it. */
import { selfIssuer, writeCertificate } from "../api/machinery/x509/certificate-writer.ts";
import { p256Key } from "../api/machinery/x509/p256-signer.ts";
import { pemText } from "../api/machinery/x509/pem.ts";
import type { ControllerSettings } from "../controllers/all.ts";

const SUBJECT = { commonName: "the authority of this test", organizations: [] };
const { signer } = p256Key(1_147n);
/** Good at whatever time a test plays. */
const VALIDITY = { fromMs: Date.UTC(2020, 0, 1), toMs: Date.UTC(2120, 0, 1) };

/** Its key is known to everybody. */
export const TEST_SIGNING_AUTHORITY = {
  certificate: pemText(
    "CERTIFICATE",
    writeCertificate(
      {
        subject: SUBJECT,
        publicKey: signer.publicKey,
        validity: VALIDITY,
        serialNumber: Uint8Array.of(1),
        isAuthority: true,
        keyUsages: ["digitalSignature", "certSign"],
      },
      selfIssuer(SUBJECT, signer),
    ),
  ),
  signer,
};

export const TEST_SETTINGS: ControllerSettings = { rootCa: "the authority of this test", signing: TEST_SIGNING_AUTHORITY };
