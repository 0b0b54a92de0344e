/** Reads certificates and keys of the user. Errors name the file and the flag. */
import { parsePemCertificates } from "../api/machinery/x509/certificate.ts";
import type { Signer, Verifier } from "../base/crypto/signing.ts";
import { keyProblem, signerFromPem, verifiersFromPem } from "../host/crypto/keys.ts";
import { readFileFlag, usable } from "../cli/framework/file-flag.ts";
import type { CertificateWithKey } from "../pki/certificates.ts";

interface GivenPair {
  readonly certificate: string;
  readonly key: string;
}

export const SERVING_FLAGS: GivenPair = { certificate: "--tls-cert-file", key: "--tls-private-key-file" };
export const KUBELET_CLIENT_FLAGS: GivenPair = { certificate: "--kubelet-client-certificate", key: "--kubelet-client-key" };
export const PROXY_CLIENT_FLAGS: GivenPair = { certificate: "--proxy-client-cert-file", key: "--proxy-client-key-file" };
export const SIGNING_FLAGS: GivenPair = { certificate: "--cluster-signing-cert-file", key: "--cluster-signing-key-file" };

export function readServingFiles(files: GivenPair): Promise<CertificateWithKey> {
  return readPair(files, SERVING_FLAGS);
}

export function readKubeletClientFiles(files: GivenPair): Promise<CertificateWithKey> {
  return readPair(files, KUBELET_CLIENT_FLAGS);
}

export function readProxyClientFiles(files: GivenPair): Promise<CertificateWithKey> {
  return readPair(files, PROXY_CLIENT_FLAGS);
}

export async function readSigningFiles(files: GivenPair): Promise<{ readonly certificate: string; readonly signer: Signer }> {
  const { certificate, key } = await readPair(files, SIGNING_FLAGS);
  return { certificate, signer: usable(files.key, SIGNING_FLAGS.key, () => signerFromPem(key)) };
}

async function readPair(files: GivenPair, flags: GivenPair): Promise<CertificateWithKey> {
  const [certificate, key] = await Promise.all([readFileFlag(files.certificate, flags.certificate), readFileFlag(files.key, flags.key)]);
  switch (keyProblem({ certificate, key })) {
    case "certificate":
      throw new Error(`Cannot use ${files.certificate}: it contains no PEM certificate; set ${flags.certificate} to a file that does`);
    case "key":
      throw new Error(`Cannot use ${files.key}: it contains no unencrypted PEM private key; set ${flags.key} to a file that does`);
    case "pair":
      throw new Error(
        `Cannot use ${files.certificate} with ${files.key}: the private key does not match the certificate; set ${flags.key} to the matching one`,
      );
    case undefined:
      return { certificate, key };
  }
}

/** A bundle of trusted certificates: --client-ca-file, --requestheader-client-ca-file. */
export async function readAuthorities(path: string, flag: string): Promise<string> {
  const bundle = await readFileFlag(path, flag);
  try {
    if (parsePemCertificates(bundle).length > 0) return bundle;
  } catch (error) {
    throw new Error(`Cannot use ${path}: ${(error as Error).message}; set ${flag} to a file with PEM certificates`, { cause: error });
  }
  throw new Error(`Cannot use ${path}: it contains no PEM certificate; set ${flag} to a file with at least one`);
}

/** Signs service account tokens: --service-account-signing-key-file of the API server, and the flag of the controller manager. */
export async function readSigningKey(path: string, flag = "--service-account-signing-key-file"): Promise<Signer> {
  const pem = await readFileFlag(path, flag);
  return usable(path, flag, () => signerFromPem(pem));
}

/** --service-account-key-file, can be repeated. */
export async function readVerifyingKeys(paths: readonly string[]): Promise<readonly Verifier[]> {
  const flag = "--service-account-key-file";
  const files = await Promise.all(
    paths.map(async (path) => {
      const pem = await readFileFlag(path, flag);
      return usable(path, flag, () => verifiersFromPem(pem));
    }),
  );
  return files.flat();
}
