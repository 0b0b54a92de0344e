import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { computeIdentity, tabIdentity } from "./tab-identity.ts";

test("the fixed certificate and public keys of a cluster in a tab are those of its secrets", () => {
  const { authority, points } = computeIdentity();
  const { identity, controllers } = tabIdentity();

  equal(identity.serverAuthority, authority);
  const signers = [controllers.signing?.signer, controllers.tokenSigner?.signer];
  deepEqual(
    signers.map((signer) => signer?.publicKey.subarray(-65)),
    points,
  );
});
