import assert from "node:assert/strict";
import { test } from "node:test";
import { Budget } from "./budget.ts";
import { Patterns } from "./expression/match.ts";
import { formatCheck, isSupportedFormat } from "./formats.ts";

const rows: readonly (readonly [format: string, good: readonly string[], bad: readonly string[]])[] = [
  ["bsonobjectid", ["507f1f77bcf86cd799439011"], ["x", "507f1f77bcf86cd79943901"]],
  [
    "uri",
    ["/x", "http://a", "*", "//a:b", "mailto:x", "http://[::1]", "http://a/#b"],
    ["", "x", ":x", "http://a b", "http://a:b", "http://a/%zz"],
  ],
  [
    "email",
    ["a@b", "A B <a@b.c>", '"a b"@c', "a@[1.2.3.4]", "a@b (c)", "<a@b>", " a@b ", "é@x", "A. B. <a@b>"],
    ["a", "a@", "a..b@c", "a@b, c@d", "a@[x]"],
  ],
  ["hostname", ["a", "a-", "a.com", "1.com", "é.com", "😀.com"], ["-a", "a.b.c", "a_b", "a.1", "a..com", "x".repeat(64), "a.b.c1"]],
  ["ipv4", ["1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4"], ["1.2.3", "::1", "256.1.1.1"]],
  ["ipv6", ["::1", "::ffff:1.2.3.4"], ["1.2.3.4", "fe80::1%eth0", "1::2::3"]],
  ["cidr", ["1.2.3.0/24", "::/0", "01.2.3.4/8"], ["1.2.3.4/33", "1.2.3.4"]],
  ["mac", ["01:23:45:67:89:ab", "01-23-45-67-89-ab", "0123.4567.89ab", "01:23:45:67:89:ab:cd:ef"], ["01:23-45:67:89:ab", "01:23:45:67:89"]],
  ["uuid", ["12345678-1234-1234-1234-123456789abc", "12345678123412341234123456789ABC"], ["x"]],
  ["uuid3", ["12345678-1234-3234-1234-123456789abc"], ["12345678-1234-1234-1234-123456789abc"]],
  ["uuid4", ["12345678-1234-4234-9234-123456789abc"], ["12345678-1234-4234-1234-123456789abc"]],
  ["uuid5", ["12345678-1234-5234-9234-123456789abc"], ["12345678-1234-4234-9234-123456789abc"]],
  ["isbn", ["0321751043", "978-0321751041"], ["1"]],
  ["isbn10", ["0-321-75104-3", "080442957X"], ["0321751044", "978-0321751041"]],
  ["isbn13", ["978-0321751041"], ["9780321751042", "0321751043"]],
  ["creditcard", ["4111 1111 1111 1111", "5500-0000-0000-0004"], ["4111111111111112", "1"]],
  ["ssn", ["111-11-1111", "111 11 1111"], ["111111111", "111-11-111"]],
  ["hexcolor", ["#FFF", "abc"], ["#12345", "#gggggg"]],
  ["rgbcolor", ["rgb(1,2,3)", "rgb( 1 , 2 , 255 )"], ["rgb(256,0,0)", "rgb(01,2,3)"]],
  ["byte", ["MTIz", "MTI="], ["", "MTI", "M-Iz"]],
  ["password", ["", "x"], []],
  ["date", ["2020-02-29", "0000-01-01"], ["2021-02-29", "2020-13-01", "2020-1-1", "2020-04-31", "1900-02-29"]],
  [
    "duration",
    ["1h", "1.5h", "3 days", "2 weeks", "10 min", "3 hours", "0", `${"0".repeat(30)}3 days`],
    ["x", "1", "1y", "3 hrs", "99999999999999999999 s", "9".repeat(100_000)],
  ],
  [
    "date-time",
    ["2020-01-01T00:00:00Z", "2020-01-01t00:00:00.5+01:00"],
    ["2020-01-01 00:00:00Z", "2020-01-01T24:00:00Z", "2020-01-01T00:00:00"],
  ],
  ["k8s-short-name", ["a", "x".repeat(63)], ["A", "a.b", "-a", "x".repeat(64)]],
  ["k8s-long-name", ["a.b"], ["A", "a..b", "x".repeat(254)]],
];
for (const [format, good, bad] of rows) {
  test(`the format ${format} accepts what upstream accepts`, () => {
    const check = formatCheck(format) ?? assert.fail("not known");
    const isGood = (text: string) => check(text, new Patterns(new Budget()));

    assert.deepEqual({ good: good.filter((text) => !isGood(text)), bad: bad.filter(isGood) }, { good: [], bad: [] });
  });
}

test("dashes in the name of a format are ignored", () => {
  assert.equal(formatCheck("u-u-i-d"), formatCheck("uuid"));
  assert.equal(formatCheck("foo"), undefined);
});

const supported: readonly (readonly [format: string, type: string, isSupported: boolean])[] = [
  ["date", "string", true],
  ["date", "", true],
  ["foo", "string", false],
  ["int32", "integer", true],
  ["int8", "integer", false],
  ["double", "number", true],
  ["int32", "number", false],
  ["date", "boolean", false],
];
for (const [format, type, isSupported] of supported) {
  test(`the format ${format} is ${isSupported ? "recognized" : "ignored"} for ${type === "" ? "values without type" : `a ${type}`}`, () => {
    assert.equal(isSupportedFormat(format, type), isSupported);
  });
}
