/** Certificates for tests: authorities that sign whatever is asked of them, and one PKI that all servers of a test process share. */
import { parsePemCertificates, type Certificate } from "../api/machinery/x509/certificate.ts";
import { extension, issuerOf, writeCertificate, type CertificateContent, type Issuer } from "../api/machinery/x509/certificate-writer.ts";
import { PURPOSE } from "../api/machinery/x509/extensions.ts";
import { pemText } from "../api/machinery/x509/pem.ts";
import { DEFAULT_API_SERVER_CONFIG } from "../apiserver/api-server-config.ts";
import type { Signer } from "../base/signing.ts";
import { makeKey, randomSerialNumber } from "../host/keys.ts";
import { DEFAULT_SERVING_CONFIG } from "../main/apiserver-config.ts";
import { makeAuthority, makeLeaf, type CertificateWithKey } from "../main/pki/certificates.ts";
import { machineMaker } from "../main/pki/machine-maker.ts";
import { memoryPlace, openPki, type Pki } from "../main/pki/pki.ts";
import { servingNamesOf } from "../main/serving-tls.ts";

export interface TestAuthority extends CertificateWithKey {
  /** A client certificate, unless `content` says otherwise. */
  sign(commonName: string, content?: Partial<CertificateContent>): CertificateWithKey;
  /** The same, but it bears all that names another authority as its signer. */
  signAs(other: TestAuthority, commonName: string): CertificateWithKey;
}

/** Of a certificate that nobody may take for good who does not know what this means. */
export const UNKNOWN_CRITICAL_EXTENSION = extension("1.2.3.4", Uint8Array.of(5, 0), { critical: true });

export function testAuthority(commonName: string): TestAuthority {
  const key = makeKey();
  return authorityOf(makeAuthority(commonName, key, machineMaker, Date.now()), key.signer);
}

/** One that another has signed. */
export function testIntermediate(commonName: string, by: TestAuthority, content: Partial<CertificateContent> = {}): TestAuthority {
  const pair = by.sign(commonName, { isAuthority: true, keyUsages: ["certSign"], extendedKeyUsages: [], ...content });
  return authorityOf(pair, machineMaker.readKey(pair.key));
}

function authorityOf(pair: CertificateWithKey, signer: Signer): TestAuthority {
  return {
    ...pair,
    sign: (commonName, content = {}) => signed(commonName, content, issuerOf(certificateOf(pair), signer)),
    signAs: (other, commonName) => signed(commonName, {}, issuerOf(certificateOf(other), signer)),
  };
}

function certificateOf({ certificate: pem }: CertificateWithKey): Certificate {
  const [certificate] = parsePemCertificates(pem);
  if (certificate === undefined) throw new Error("Cannot read the certificate that was just made");
  return certificate;
}

function signed(commonName: string, content: Partial<CertificateContent>, issuer: Issuer): CertificateWithKey {
  const key = makeKey();
  const der = writeCertificate(
    {
      subject: { commonName, organizations: [] },
      publicKey: key.signer.publicKey,
      validity: machineMaker.validity("leaf", Date.now()),
      serialNumber: randomSerialNumber(),
      keyUsages: ["digitalSignature"],
      extendedKeyUsages: [PURPOSE.client],
      ...content,
    },
    issuer,
  );
  return { certificate: pemText("CERTIFICATE", der), key: key.pem };
}

/** For a server on this machine's loopback address. PEM. */
export interface TestServing extends CertificateWithKey {
  readonly authority: string;
}

export function testServing(): TestServing {
  const key = makeKey();
  const authority = makeAuthority("test", key, machineMaker, Date.now());
  const subject = { commonName: "test", organizations: [] };
  const request = { subject, purpose: "server", names: ["localhost", "127.0.0.1", "::1"] } as const;
  const leaf = makeLeaf(request, { certificate: certificateOf(authority), signer: key.signer }, machineMaker, Date.now());
  return { authority: authority.certificate, ...leaf };
}

let shared: Promise<Pki> | undefined;

/** Made once in a process, so that a test that starts a server does not wait for keys. */
export function sharedPki(): Promise<Pki> {
  const servingNames = servingNamesOf(DEFAULT_SERVING_CONFIG, DEFAULT_API_SERVER_CONFIG.serviceClusterIpRange);
  shared ??= openPki({ place: memoryPlace(), maker: machineMaker, servingNames, nowMs: Date.now() });
  return shared;
}
