/** Tables as text: values between commas or tabs, in quotes where they hold such. */

/** One line, ended. */
export function csvLine(values, between = ",") {
  const special = new RegExp(`["\\n\\r${between}]|^\\s|\\s$`);
  return `${values.map(String).map((value) => (special.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(between)}\n`;
}

/** All rows of a text, each a list of values; lines without anything are left out. */
export function csvRows(text, between) {
  const rows = [];
  let [row, value, quoted, at] = [[], "", false, 0];
  const endValue = () => (row.push(value), (value = ""));
  const endRow = () => {
    endValue();
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  };
  const plain = new RegExp(`["\\n${between}]`, "g");
  while (at < text.length) {
    const next = nextOf(text, at, quoted, plain);
    value += text.slice(at, next);
    at = next + 1;
    if (next === text.length) break;
    const found = text[next];
    if (quoted && text[at] === '"') ((value += '"'), (at += 1));
    else if (quoted) quoted = false;
    else if (found === '"' && value === "") quoted = true;
    else if (found === '"') value += '"';
    else if (found === between) endValue();
    else endRow();
  }
  if (value !== "" || row.length) endRow();
  return rows;
}

/** The next place that means something: within quotes only a quote does. */
function nextOf(text, at, quoted, plain) {
  if (quoted) {
    const end = text.indexOf('"', at);
    return end < 0 ? text.length : end;
  }
  plain.lastIndex = at;
  return plain.exec(text)?.index ?? text.length;
}

/** What stands between the values of a first line, by what it has most of. */
export function betweenOf(text) {
  const end = text.indexOf("\n");
  const line = end < 0 ? text : text.slice(0, end);
  const times = (one) => line.split(one).length;
  return [",", ";", "\t"].reduce((best, one) => (times(one) > times(best) ? one : best));
}
