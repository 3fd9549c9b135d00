// The page's link: where the table is, what is asked and which view, never a secret. Everything stands behind `#`, so no
// server is told.

/**
 * @typedef {import('../types.js').Place} Place
 * @typedef {import('../types.js').ViewName} ViewName
 * @typedef {import('../types.js').FilterTuple} FilterTuple
 * @typedef {{ place?: Place, view: ViewName, asOf?: string, filters: readonly FilterTuple[] }} Link
 */

/** @type {readonly ViewName[]} */
export const viewNames = ['data', 'files', 'timeline', 'schema', 'requests'];

/**
 * An address without what may be a secret in it: user and password, and the query, where signatures and tokens stand.
 * @param {string} address
 */
export function withoutSecrets(address) {
  const bare = address.replace(/[?#].*$/s, '');
  return bare.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1');
}

/** @param {Link} link @returns {string} the text behind `#` */
export function format({ place, view, asOf, filters }) {
  const words = new URLSearchParams();
  if (place?.sample !== undefined) words.set('sample', place.sample);
  else if (place) {
    words.set('table', withoutSecrets(place.uri));
    if (place.kind !== 'http') words.set('storage', place.kind);
    if (place.manifest) words.set('manifest', withoutSecrets(place.manifest));
    if (place.region) words.set('region', place.region);
    if (place.endpoint) words.set('endpoint', withoutSecrets(place.endpoint));
    if (place.pathStyle) words.set('path_style', 'true');
    if (place.anonymous) words.set('anonymous', 'true');
    if (place.timezone) words.set('timezone', place.timezone);
  }
  if (view !== 'data') words.set('view', view);
  if (asOf !== undefined) words.set('as_of', asOf);
  if (filters.length > 0) words.set('filters', JSON.stringify(filters));
  return words.toString();
}

/** @param {string} text what stands behind `#`, from anyone: what does not fit is left out @returns {Link} */
export function parse(text) {
  const words = new URLSearchParams(text.replace(/^#/, ''));
  const view = viewNames.find((name) => name === words.get('view')) ?? 'data';
  const asOf = words.get('as_of') ?? undefined;
  const place = parsePlace(words);
  return { view, filters: parseFilters(words.get('filters')), ...(place && { place }), ...(asOf !== undefined && { asOf }) };
}

/** @param {URLSearchParams} words @returns {Place | undefined} */
function parsePlace(words) {
  const sample = words.get('sample');
  if (sample !== null) return { uri: '', kind: 'http', sample };
  const uri = words.get('table');
  if (!uri) return undefined;
  const text = (/** @type {string} */ name) => words.get(name) ?? undefined;
  return Object.freeze({
    uri,
    kind: words.get('storage') === 's3' ? 's3' : 'http',
    manifest: text('manifest'),
    region: text('region'),
    endpoint: text('endpoint'),
    pathStyle: words.get('path_style') === 'true',
    anonymous: words.get('anonymous') === 'true',
    timezone: text('timezone'),
  });
}

/** @param {string | null} text @returns {FilterTuple[]} */
function parseFilters(text) {
  if (!text) return [];
  try {
    const list = JSON.parse(text);
    if (!Array.isArray(list)) return [];
    return list.filter((one) => Array.isArray(one) && one.length >= 2 && one.length <= 3 && one.every((part) => typeof part === 'string'));
  } catch {
    return [];
  }
}
