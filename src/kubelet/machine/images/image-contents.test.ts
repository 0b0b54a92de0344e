import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { imagesIn, type BlobFacts, type TarContents } from "./image-contents.ts";
import { wholeImageName } from "./image-name.ts";

const CONFIG = `sha256:${"c".repeat(64)}`;
const LAYER = `sha256:${"1".repeat(64)}`;
const MANIFEST = `sha256:${"a".repeat(64)}`;
/** Content of the decompressed layer. */
const UNPACKED = `sha256:${"2".repeat(64)}`;
const INDEX = `sha256:${"b".repeat(64)}`;

/** Documents by path, as values, and blobs by digest. */
function contents(documents: Readonly<Record<string, unknown>>, blobs: readonly string[], layer: Partial<BlobFacts> = {}): TarContents {
  return {
    text: (path) => (Object.hasOwn(documents, path) ? JSON.stringify(documents[path]) : undefined),
    blob: (path) => {
      const digest = blobs.find(
        (one) => path === `blobs/${one.replace(":", "/")}` || path === `${one.slice(7)}.json` || path === `${one.slice(7)}/layer.tar`,
      );
      if (digest === undefined) return undefined;
      return digest === LAYER
        ? { digest, size: 10, compression: "gzip", unpacked: UNPACKED, ...layer }
        : { digest, size: 10, compression: undefined, unpacked: digest };
    },
  };
}

const at = (digest: string) => `blobs/${digest.replace(":", "/")}`;
const manifest = { config: { digest: CONFIG, size: 10, mediaType: "x" }, layers: [{ digest: LAYER, size: 10, mediaType: "y" }] };
const config = { rootfs: { type: "layers", diff_ids: [UNPACKED] } };
const target = { mediaType: "m", digest: MANIFEST, size: 5 };
const oci = (annotations: Readonly<Record<string, string>>) => ({
  "index.json": { manifests: [{ ...target, annotations }] },
  [at(MANIFEST)]: manifest,
  [at(CONFIG)]: config,
});
const layers = [{ mediaType: "y", digest: LAYER, size: 10, diffId: UNPACKED }];
const found = (names: readonly string[]) => [{ names, manifest: { is: "present", target }, config: CONFIG, layers }];
const ALL = [CONFIG, LAYER, MANIFEST, INDEX];

describe("an OCI layout", () => {
  for (const { it, annotations, names } of [
    {
      it: "written by containerd has the full name",
      annotations: { "io.containerd.image.name": "docker.io/library/a:1" },
      names: ["docker.io/library/a:1"],
    },
    { it: "may have a short name", annotations: { "org.opencontainers.image.ref.name": "a:1" }, names: ["docker.io/library/a:1"] },
    { it: "may have only a tag, which is no name", annotations: { "org.opencontainers.image.ref.name": "latest" }, names: [] },
    { it: "may have no name", annotations: {}, names: [] },
  ]) {
    test(it, () => deepEqual(imagesIn(contents(oci(annotations), ALL), { architecture: "amd64" }), found(names)));
  }

  test("written by docker has its names in manifest.json", () => {
    const documents = { ...oci({}), "manifest.json": [{ Config: at(CONFIG), RepoTags: ["a:1", "a:2"], Layers: [at(LAYER)] }] };
    deepEqual(imagesIn(contents(documents, ALL), { architecture: "amd64" }), found(["docker.io/library/a:1", "docker.io/library/a:2"]));
  });

  const several = {
    "index.json": { manifests: [{ mediaType: "i", digest: INDEX, size: 9, annotations: { "io.containerd.image.name": "a.b/c:1" } }] },
    [at(INDEX)]: {
      manifests: [
        { mediaType: "m", digest: `sha256:${"f".repeat(64)}`, size: 5, platform: { os: "linux", architecture: "arm64" } },
        { ...target, platform: { os: "linux", architecture: "amd64" } },
      ],
    },
    [at(MANIFEST)]: manifest,
    [at(CONFIG)]: config,
  };

  test("with several platforms resolves to this machine's", () => {
    const [image] = found(["a.b/c:1"]);
    deepEqual(imagesIn(contents(several, ALL), { architecture: "amd64" }), [{ ...image, listDigest: INDEX }]);
  });

  test("for other platforms is rejected", () => {
    throws(() => imagesIn(contents(several, ALL), { architecture: "riscv64" }), /it is for arm64, amd64, this machine is riscv64/);
  });

  test("with a missing layer is rejected", () => {
    throws(() => imagesIn(contents(oci({}), [CONFIG, MANIFEST]), { architecture: "amd64" }), /blob sha256:1+ is missing/);
  });
});

describe("an archive of an older docker save", () => {
  const documents = {
    "manifest.json": [{ Config: `${"c".repeat(64)}.json`, RepoTags: ["a:1"], Layers: [`${"1".repeat(64)}/layer.tar`] }],
    [`${"c".repeat(64)}.json`]: config,
  };

  test("gets a manifest that states the compression of each layer", () => {
    const [image] = imagesIn(contents(documents, ALL), { architecture: "amd64" });
    deepEqual([image?.names, image?.config], [["docker.io/library/a:1"], CONFIG]);
    deepEqual(image?.layers, [{ mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", digest: LAYER, size: 10, diffId: UNPACKED }]);
    equal(image?.manifest.is, "new");
    deepEqual(JSON.parse(image?.manifest.is === "new" ? image.manifest.text : ""), {
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      config: { mediaType: "application/vnd.oci.image.config.v1+json", digest: CONFIG, size: 10 },
      layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", digest: LAYER, size: 10 }],
    });
  });

  test("with a missing file is rejected", () => {
    throws(() => imagesIn(contents(documents, [CONFIG]), { architecture: "amd64" }), /"1+\/layer\.tar" is missing/);
  });
});

describe("layers must match the diff ids of the config", () => {
  const docker = (value: unknown) => ({
    "manifest.json": [{ Config: `${"c".repeat(64)}.json`, RepoTags: ["a:1"], Layers: [`${"1".repeat(64)}/layer.tar`] }],
    [`${"c".repeat(64)}.json`]: value,
  });
  const other = `sha256:${"3".repeat(64)}`;
  for (const { it, documents, layer, says } of [
    {
      it: "mismatching content in an OCI layout is rejected",
      documents: oci({}),
      layer: { unpacked: other },
      says: /1+" is damaged: it is sha256:3+,/,
    },
    {
      it: "mismatching content is rejected",
      documents: docker(config),
      layer: { unpacked: other },
      says: /and should be sha256:2+; save the/,
    },
    {
      it: "a layer that cannot be decompressed is rejected",
      documents: docker(config),
      layer: { unpacked: undefined },
      says: /it is not readable/,
    },
    {
      it: "a zstd layer, whose content cannot be verified, is rejected",
      documents: docker(config),
      layer: { compression: "zstd", unpacked: undefined },
      says: /it is not readable/,
    },
    {
      it: "missing layers are rejected",
      documents: docker({ rootfs: { diff_ids: [] } }),
      layer: {},
      says: /1 layers, but its config .* lists 0/,
    },
    { it: "a config without diff ids is rejected", documents: docker({}), layer: {}, says: /does not list its layers/ },
  ] as const) {
    test(it, () => throws(() => imagesIn(contents(documents, ALL, layer), { architecture: "amd64" }), says));
  }

  test("a zstd layer in an OCI layout is accepted, since its name has its digest", () => {
    const zstd = contents(oci({}), ALL, { compression: "zstd", unpacked: undefined });
    deepEqual(imagesIn(zstd, { architecture: "amd64" }), found([]));
  });
});

test("a tar without index.json and manifest.json is rejected", () => {
  throws(() => imagesIn(contents({}, []), { architecture: "amd64" }), /neither an index\.json nor a manifest\.json/);
});

describe("a short image name is completed", () => {
  for (const [name, whole] of [
    ["busybox", "docker.io/library/busybox:latest"],
    ["busybox:1", "docker.io/library/busybox:1"],
    ["user/app", "docker.io/user/app:latest"],
    ["localhost/app:2", "localhost/app:2"],
    ["reg.example:5000/app", "reg.example:5000/app:latest"],
    ["k8ts.test/busybox:1", "k8ts.test/busybox:1"],
    ["a.b/c@sha256:00", "a.b/c@sha256:00"],
  ] as const) {
    test(name, () => equal(wholeImageName(name), whole));
  }
});
