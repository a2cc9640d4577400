/** From words with their places in a text to runs of it that are marked alike. */

/** Places as Python counts them, in characters, become places as JavaScript does, where some characters count twice. */
export function toUnits(text, words) {
  if (!/[\ud800-\udbff]/.test(text)) return words;
  const places = [];
  for (let at = 0; at < text.length; at += text.codePointAt(at) > 0xffff ? 2 : 1) places.push(at);
  const unit = (place) => places[place] ?? text.length;
  return words.map((word) => ({ ...word, start: unit(word.start), end: unit(word.end) }));
}

const FAINTEST = 0.06; // of the strongest word; what says less is left unmarked, so that the rest can be seen

/** The text in runs; where words overlap, as pairs of words do, their shares add up. */
export function runs(text, words) {
  const changes = new Map();
  const change = (place, by) => changes.set(place, (changes.get(place) ?? 0) + by);
  for (const { start, end, share } of words) {
    change(start, share);
    change(end, -share);
  }
  const found = [];
  let [from, share] = [0, 0];
  for (const place of [...changes.keys(), text.length].sort((one, other) => one - other)) {
    if (place > from) found.push({ text: text.slice(from, place), share: Math.abs(share) < FAINTEST ? 0 : share });
    [from, share] = [Math.max(from, place), share + (changes.get(place) ?? 0)];
  }
  return found;
}
