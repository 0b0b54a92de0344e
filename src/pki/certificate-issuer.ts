/** Issues certificates with random keys of the machine. */
import { makeKey, isSignedBy, randomSerialNumber, signerFromPem } from "../host/crypto/keys.ts";
import type { CertificateMaker } from "./certificates.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** The CA outlives its certificates, because clients keep a copy of it. kubeadm's lifetime. */
const AUTHORITY_MS = 3650 * DAY_MS;
const LEAF_MS = 365 * DAY_MS;
/** Tolerated clock skew of clients. */
const BACKDATED_MS = 60 * 60 * 1000;

export const machineMaker: CertificateMaker = {
  newKey: makeKey,
  readKey: signerFromPem,
  newSerialNumber: randomSerialNumber,
  isSignedBy,
  validity: (of, nowMs) => ({ fromMs: nowMs - BACKDATED_MS, toMs: nowMs + (of === "authority" ? AUTHORITY_MS : LEAF_MS) }),
};

/** The same for clusters whose time differs from their clients': certificates never expire in practice. */
export const timelessMaker: CertificateMaker = {
  ...machineMaker,
  validity: () => ({ fromMs: Date.UTC(2020, 0, 1), toMs: Date.UTC(2120, 0, 1) }),
};
