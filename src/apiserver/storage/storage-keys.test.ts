/** The keys of every built-in kind: the store accepts them, and data of the legacy layout is migrated to them. */
import { equal } from "node:assert/strict";
import { test } from "node:test";
import { all } from "../../api/all.ts";
import { storagePrefix } from "../../api/machinery/storage-prefix.ts";
import { resourcePrefixOf } from "../../store/key.ts";
import { legacyKeyToCurrent } from "../../store/legacy-keys.ts";

const stored = all.filter((resource) => resource.stored);

for (const { plural, storage } of stored) {
  const prefix = storagePrefix({ group: storage.group, plural });

  test(`${plural} are watched under ${prefix}, and their legacy keys become keys under it`, () => {
    equal(resourcePrefixOf(`${prefix}a/b`), prefix);
    const legacyGroup = storage.group === "" ? "core" : storage.group;
    equal(legacyKeyToCurrent(`/${legacyGroup}/${plural}/a/b`), `${prefix}a/b`);
  });
}

test("no two kinds share a storage prefix", () => {
  const prefixes = stored.map(({ plural, storage }) => storagePrefix({ group: storage.group, plural }));
  equal(new Set(prefixes).size, prefixes.length);
});
