/**
 * The certificate of a server that nobody has given one: signed by an authority of its own, kept in a directory and used again at the
 * next start, so that clients can go on trusting what they trust. It is made anew when it is about to expire, when the server has a
 * name that is not in it, or when the files do not belong together. Keys are readable by their owner only.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { joinPath } from "./files.ts";
import { writePrivateText } from "./private-files.ts";
import { makeAuthority, makeCertificate, type CertificateWithKey } from "./x509.ts";

/** PEM. */
export interface ServingCertificate extends CertificateWithKey {
  /** What clients are to trust. */
  readonly authority: string;
}

export interface ServingCertificateOptions {
  /** DNS names and IP addresses under which clients reach the server. */
  readonly names: readonly string[];
  readonly nowMs: number;
  /** Made if there is none. Without: nothing is kept, and every start has another authority. */
  readonly directory?: string | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** The authority outlives its certificates, since clients keep a copy of it. */
const AUTHORITY_DAYS = 3650;
const SERVING_DAYS = 365;
/** A certificate with less than this left is made anew at the next start. */
const RENEW_DAYS = 30;
/** Clients' clocks may be behind ours. */
const BACKDATED_MS = 60 * 60 * 1000;

/** The names that upstream's tools give them. */
const AUTHORITY_FILE = "ca";
const SERVING_FILE = "apiserver";

export async function servingCertificate({ names, nowMs, directory }: ServingCertificateOptions): Promise<ServingCertificate> {
  if (directory === undefined) return served(newServing(names, newAuthority(nowMs), nowMs));
  const [authority, serving] = await Promise.all([readPair(directory, AUTHORITY_FILE), readPair(directory, SERVING_FILE)]);
  if (isGood(authority, nowMs) && isGood(serving, nowMs) && isFor(serving, names) && isSignedBy(serving, authority)) {
    return { authority: authority.certificate, certificate: serving.certificate, key: serving.key };
  }
  if (authority.certificate !== "" && authority.key === "") {
    throw new Error(`Cannot make a certificate: ${joinPath(directory, "ca.crt")} has no ca.key beside it; put it there, or remove ca.crt`);
  }
  const signing = isGood(authority, nowMs) ? authority : newAuthority(nowMs);
  if (signing !== authority) await writePair(directory, AUTHORITY_FILE, signing);
  const made = newServing(names, signing, nowMs);
  await writePair(directory, SERVING_FILE, made.serving);
  return served(made);
}

interface Made {
  readonly authority: CertificateWithKey;
  readonly serving: CertificateWithKey;
}

function served({ authority, serving }: Made): ServingCertificate {
  return { authority: authority.certificate, ...serving };
}

function newAuthority(nowMs: number): CertificateWithKey {
  // Several authorities of one name would be mistaken for each other where a machine trusts more than one.
  return makeAuthority(`k8ts-ca@${Math.floor(nowMs / 1000)}`, { fromMs: nowMs - BACKDATED_MS, toMs: nowMs + AUTHORITY_DAYS * DAY_MS });
}

function newServing(names: readonly string[], authority: CertificateWithKey, nowMs: number): Made {
  const validity = { fromMs: nowMs - BACKDATED_MS, toMs: nowMs + SERVING_DAYS * DAY_MS };
  const commonName = new X509Certificate(authority.certificate).subject.replace(/^CN=/, "");
  const request = { commonName: "kube-apiserver", purpose: "server", names, validity } as const;
  return { authority, serving: makeCertificate(request, { ...authority, commonName }) };
}

/** A certificate and its key as they were read, which may be anything; empty where there is no file. */
type Pair = CertificateWithKey;

async function readPair(directory: string, name: string): Promise<Pair> {
  const [certificate, key] = await Promise.all([
    readText(joinPath(directory, `${name}.crt`)),
    readText(joinPath(directory, `${name}.key`)),
  ]);
  return { certificate, key };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw new Error(`Cannot read ${path}: ${(error as Error).message}; give a file that this user can read`, { cause: error });
  }
}

async function writePair(directory: string, name: string, { certificate, key }: Pair): Promise<void> {
  // The key first: a certificate that has appeared has its key beside it.
  await writePrivateText(joinPath(directory, `${name}.key`), key);
  await writePrivateText(joinPath(directory, `${name}.crt`), certificate);
}

function isGood({ certificate, key }: Pair, nowMs: number): boolean {
  return (
    problemOf({ certificate, key }) === undefined && Date.parse(new X509Certificate(certificate).validTo) - nowMs > RENEW_DAYS * DAY_MS
  );
}

/** What is wrong with a certificate and a key that should belong together. */
function problemOf({ certificate, key }: Pair): "certificate" | "key" | "pair" | undefined {
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(certificate);
  } catch {
    return "certificate";
  }
  try {
    return parsed.checkPrivateKey(createPrivateKey(key)) ? undefined : "pair";
  } catch {
    return "key";
  }
}

function isFor({ certificate }: Pair, names: readonly string[]): boolean {
  const parsed = new X509Certificate(certificate);
  return names.every((name) => (isIP(name) === 0 ? parsed.checkHost(name, { subject: "never" }) : parsed.checkIP(name)) !== undefined);
}

function isSignedBy(serving: Pair, authority: Pair): boolean {
  return new X509Certificate(serving.certificate).verify(new X509Certificate(authority.certificate).publicKey);
}

/** A certificate that somebody has given us. Throws one sentence if the files cannot be used. */
export async function readServingCertificate(files: { readonly certificate: string; readonly key: string }): Promise<ServingCertificate> {
  const [certificate, key] = await Promise.all([readGiven(files.certificate), readGiven(files.key)]);
  switch (problemOf({ certificate, key })) {
    case "certificate":
      throw new Error(`Cannot use ${files.certificate}: it holds no certificate in PEM form`);
    case "key":
      throw new Error(`Cannot use ${files.key}: it holds no private key in PEM form, or one with a password`);
    case "pair":
      throw new Error(`Cannot use ${files.certificate} with ${files.key}: the key is not the certificate's`);
    case undefined:
      // Whoever signed it is in the file, or is trusted by the clients anyway.
      return { authority: certificate, certificate, key };
  }
}

async function readGiven(path: string): Promise<string> {
  const text = await readText(path);
  if (text === "") throw new Error(`Cannot read ${path}: there is no such file, or it is empty`);
  return text;
}
