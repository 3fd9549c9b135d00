//! A URI and what the caller says of its storage to a store.

use std::sync::{Arc, OnceLock};

use futures::FutureExt;
use js_sys::Function;
use object_store::ObjectStore;
use object_store::aws::{AmazonS3, AwsCredentialProvider};
use object_store::{StaticCredentialProvider, path::Path};
use url::Url;
use wasm_bindgen::{JsCast, JsValue};

use super::caller::{Presigner, Provider, credential_of, header_source};
use super::connector::Connector;
use super::fetch::{Fetch, Place, page_origin};
use super::js_listing::{JsLister, ListerKind};
use super::js_store::JsStore;
use super::js_value::{flag, get, text};
use super::js_write::writing;
use super::listing::Listing;
use super::manifest::{LateManifest, Manifest};
use super::s3::{S3Place, s3, shown as shown_for};
use super::signer::{QuerySigner, UrlSigner, unsigned};
use super::web_folder::{WebFolder, folder_url};
use crate::error::{Error, ErrorKind, Result};
use crate::storage::{
    Cause, ListingFacts, ListingSource, PutIfAbsent, Storage, StorageOptions, Uploads,
};

/// A store that is ready, and how to ask it; the caller may still change the options.
pub struct OpenedStore {
    /// The store.
    pub store: Arc<dyn ObjectStore>,
    /// Base, listing and pages are set; the rest is the default.
    pub options: StorageOptions,
    /// The table's URI without query, fragment and user name.
    pub base_url: String,
    /// `http`, `s3` or `custom`.
    pub kind: &'static str,
}

impl OpenedStore {
    /// The storage over it.
    pub fn storage(self) -> Storage {
        Storage::new(self.store, self.options)
    }
}

/// Opens the store of a table: by `init.type`, or an `ObjectStore` that the caller wrote, or by the URI alone.
///
/// Nothing is asked of the store. Errors: `InvalidArgument`, `Unsupported`.
pub fn open(uri: &str, init: &JsValue) -> Result<OpenedStore> {
    match parts(uri, init)? {
        Parts::Ready(opened) => Ok(*opened),
        Parts::Web(web) => web.open(),
    }
}

enum Parts {
    Ready(Box<OpenedStore>),
    Web(Web),
}

struct Web {
    url: Url,
    connector: Connector,
    listing: WebInit,
}

enum WebInit {
    None,
    Lister(JsLister, ListerKind),
    Manifest(String),
}

fn parts(uri: &str, init: &JsValue) -> Result<Parts> {
    let absent = init.is_undefined() || init.is_null();
    let kind = match text(init, "type") {
        Some(kind) => kind,
        None if !absent => return custom(uri, init.clone()),
        None if is_web(uri) => "http".to_owned(),
        None => {
            return Err(
                Error::invalid_argument("storage is needed to open this URI")
                    .context("uri", shown(uri))
                    .context("hint", "for s3: give storage: { type: 's3', region }"),
            );
        }
    };
    match kind.as_str() {
        "http" => Ok(Parts::Web(web(uri, init)?)),
        "s3" => bucket(uri, init),
        "s3-presigned" => presigned(uri, init),
        "memory" | "file" | "directory" | "r2" => {
            Err(Error::unsupported("this host has no such storage").context("type", kind))
        }
        _ => Err(Error::invalid_argument("unknown type of storage").context("type", kind)),
    }
}

fn is_web(uri: &str) -> bool {
    let scheme = uri
        .split_once("://")
        .map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

fn custom(uri: &str, object: JsValue) -> Result<Parts> {
    let options = StorageOptions {
        listing: ListingFacts {
            source: ListingSource::Store,
            ..ListingFacts::default()
        },
        ..StorageOptions::default()
    };
    let options = writing(&object, options);
    Ok(Parts::Ready(Box::new(OpenedStore {
        store: Arc::new(JsStore::new(object)?),
        options,
        base_url: shown(uri),
        kind: "custom",
    })))
}

fn own_fetch(init: &JsValue) -> Result<Option<Function>> {
    let given = get(init, "fetch");
    match given.is_undefined() || given.is_null() {
        true => Ok(None),
        false => given.dyn_into().map(Some).map_err(|_| {
            Error::invalid_argument("storage.fetch is not a function").context("field", "fetch")
        }),
    }
}

fn web(uri: &str, init: &JsValue) -> Result<Web> {
    let url = folder_url(uri)?;
    let connector = Connector {
        transport: Arc::new(Fetch::new(own_fetch(init)?, Place::Server)),
        headers: header_source(&get(init, "headers"))?,
        signer: None,
    };
    let given = get(init, "listing");
    let word = given.as_string();
    let listing = match (word.as_deref(), given.dyn_ref::<Function>()) {
        (Some("none"), _) => WebInit::None,
        (_, Some(function)) => {
            let kind = match text(function, "lists").as_deref() {
                Some("levels") => ListerKind::Levels,
                Some("names") => ListerKind::Names,
                _ => ListerKind::Custom,
            };
            WebInit::Lister(JsLister::new(function.clone(), kind), kind)
        }
        _ if given.is_undefined() || given.is_null() => WebInit::None,
        _ => match manifest_of(&given) {
            Some(manifest) => WebInit::Manifest(manifest),
            None => {
                return Err(Error::invalid_argument("unknown listing").context("field", "listing"));
            }
        },
    };
    Ok(Web {
        url,
        connector,
        listing,
    })
}

/// `{ manifest: string | URL }`.
fn manifest_of(given: &JsValue) -> Option<String> {
    let manifest = get(given, "manifest");
    manifest.as_string().or_else(|| text(&manifest, "href"))
}

impl Web {
    fn open(self) -> Result<OpenedStore> {
        // Servers that show folders are walked one by one; whoever else lists tells all below a folder at once.
        let lists_flat = match &self.listing {
            WebInit::Lister(_, kind) => *kind == ListerKind::Custom,
            WebInit::None | WebInit::Manifest(_) => true,
        };
        let mut listing_told = None;
        let (listing, facts) = match self.listing {
            WebInit::Manifest(at) => {
                let (url, connector) = (self.url.clone(), self.connector.clone());
                let late = LateManifest::new(move || {
                    let (url, at, connector) = (url.clone(), at.clone(), connector.clone());
                    async move { fetch_manifest(&url, &at, &connector).await }.boxed()
                });
                listing_told = Some(Arc::clone(late.facts()));
                let facts = ListingFacts {
                    source: ListingSource::Manifest,
                    ..ListingFacts::default()
                };
                (Listing::Manifest(Arc::new(late)), facts)
            }
            WebInit::None => (Listing::None, ListingFacts::default()),
            WebInit::Lister(lister, kind) => {
                let facts = ListingFacts {
                    source: match kind {
                        ListerKind::Custom => ListingSource::Custom,
                        _ => ListingSource::Store,
                    },
                    dot_names_hidden: kind == ListerKind::Names,
                    ..ListingFacts::default()
                };
                (Listing::Custom(Arc::new(lister)), facts)
            }
        };
        let base_url = shown(self.url.as_str());
        let store = WebFolder::new(&self.url, self.connector, listing)?;
        Ok(OpenedStore {
            store: Arc::new(store),
            options: StorageOptions {
                listing: facts,
                listing_told,
                lists_flat,
                read_only: Some("a web folder cannot be written"),
                ..StorageOptions::default()
            },
            base_url,
            kind: "http",
        })
    }
}

/// Reads the manifest, with retries and through the same connection; the caller's headers go only to the table's own
/// origin.
async fn fetch_manifest(table: &Url, at: &str, connector: &Connector) -> Result<Manifest> {
    let mut folder = table.clone();
    folder.set_path(&format!("{}/", table.path().trim_end_matches('/')));
    let wrong =
        || Error::invalid_argument("not the address of a manifest").context("field", "listing");
    let mut url = folder.join(at).map_err(|_| wrong())?;
    if url.query().is_none() && url.origin() == table.origin() {
        url.set_query(table.query());
    }
    let shown_at = shown(url.as_str());
    let connector = Connector {
        headers: connector
            .headers
            .clone()
            .filter(|_| url.origin() == table.origin()),
        ..connector.clone()
    };
    let (parent, name) = url.path().rsplit_once('/').ok_or_else(wrong)?;
    let name = Path::from_url_path(name).map_err(|_| wrong())?.to_string();
    let mut parent_url = url.clone();
    parent_url.set_path(parent);
    let parent_url = folder_url(parent_url.as_str())?;
    let store = WebFolder::new(&parent_url, connector, Listing::None)?;
    let storage = Storage::new(Arc::new(store), StorageOptions::default());
    let bytes = storage.get(&name, Cause::Listing).await;
    // A folder that is not there lists as empty; a list that is not there must not.
    let bytes = bytes.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::list_not_supported("the manifest that lists the table's files is not there")
            .context("path", &name)
            .context("hint", "`npm run manifest -- <folder>` writes one; `listing.manifest` is its address from the table's folder on"),
        _ => error,
    });
    let manifest = bytes.and_then(|bytes| Manifest::parse(&bytes));
    manifest.map_err(|error| error.context("manifest", shown_at))
}

/// The bucket that a URI names, and the table's path in it.
fn bucket_of(uri: &str) -> Result<(&str, Path)> {
    let wrong = |message: &'static str| {
        Error::invalid_argument(message)
            .context("uri", shown(uri))
            .context(
                "hint",
                "an S3 table is named s3://bucket/path; its server is storage.endpoint",
            )
    };
    let (scheme, rest) = uri.split_once("://").ok_or_else(|| wrong("not a URI"))?;
    if !matches!(scheme, "s3" | "s3a" | "s3n") {
        return Err(wrong("not a URI of S3"));
    }
    let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let base =
        Path::parse(prefix.trim_matches('/')).map_err(|_| wrong("not a path in a bucket"))?;
    Ok((name, base))
}

/// A page signs in the address, since a signature in headers costs a preflight for each object.
fn bucket(uri: &str, init: &JsValue) -> Result<Parts> {
    let (name, base) = bucket_of(uri)?;
    let endpoint = get(init, "endpoint");
    let place = S3Place {
        bucket: name.to_owned(),
        region: text(init, "region").ok_or_else(|| {
            Error::invalid_argument("storage.region is needed").context("field", "region")
        })?,
        endpoint: endpoint.as_string().or_else(|| text(&endpoint, "href")),
        path_style: flag(init, "forcePathStyle")?,
        request_payer: flag(init, "requestPayer")?.unwrap_or(false),
    };
    let connect = |place| -> Result<Connector> {
        Ok(Connector {
            transport: Arc::new(Fetch::new(own_fetch(init)?, place)),
            headers: None,
            signer: None,
        })
    };
    let store = match (credentials(init)?, page_origin()) {
        (Some(credentials), Some(_)) => {
            let connector = connect(Place::Bucket)?;
            let signer = QuerySigner::new(&place, credentials, connector.clone())?;
            signed_bucket(name, connector, Arc::new(signer))?
        }
        (Some(credentials), None) => {
            s3(&place, Some(credentials), connect(Place::BucketByHeaders)?)?
        }
        (None, _) => s3(&place, None, connect(Place::Bucket)?)?,
    };
    let put_if_absent = conditional(init, || shown_for(&place))?;
    Ok(in_bucket(uri, store, &base, put_if_absent))
}

/// What the caller says of conditional puts, else what is to be shown.
fn conditional(init: &JsValue, shown: impl FnOnce() -> Arc<OnceLock<()>>) -> Result<PutIfAbsent> {
    Ok(match flag(init, "conditionalWrites")? {
        Some(true) => PutIfAbsent::Kept,
        Some(false) => PutIfAbsent::ByLooking,
        None => PutIfAbsent::ToBeShown(shown()),
    })
}

fn presigned(uri: &str, init: &JsValue) -> Result<Parts> {
    let (name, base) = bucket_of(uri)?;
    let sign = get(init, "sign").dyn_into::<Function>().map_err(|_| {
        Error::invalid_argument("storage.sign is a function").context("field", "sign")
    })?;
    let connector = Connector {
        transport: Arc::new(Fetch::new(own_fetch(init)?, Place::Bucket)),
        headers: None,
        signer: None,
    };
    let store = signed_bucket(name, connector, Arc::new(Presigner::new(&sign)))?;
    // Which server the addresses lead to is the signer's affair, so nothing is remembered beyond this store.
    let put_if_absent = conditional(init, Arc::default)?;
    Ok(in_bucket(uri, store, &base, put_if_absent))
}

fn signed_bucket(
    name: &str,
    connector: Connector,
    signer: Arc<dyn UrlSigner>,
) -> Result<Arc<AmazonS3>> {
    let connector = Connector {
        signer: Some(signer),
        ..connector
    };
    unsigned(name, connector)
}

fn in_bucket(uri: &str, store: Arc<AmazonS3>, base: &Path, put_if_absent: PutIfAbsent) -> Parts {
    Parts::Ready(Box::new(OpenedStore {
        options: StorageOptions {
            base: base.to_string(),
            pages: Some(store.clone()),
            put_if_absent,
            uploads: Uploads::Parts(store.clone()),
            ..StorageOptions::default()
        },
        store,
        base_url: shown(uri),
        kind: "s3",
    }))
}

fn credentials(init: &JsValue) -> Result<Option<AwsCredentialProvider>> {
    let given = get(init, "credentials");
    let absent = given.is_undefined() || given.is_null();
    match (flag(init, "anonymous")?.unwrap_or(false), absent) {
        (true, true) => Ok(None),
        (true, false) => Err(Error::invalid_argument(
            "anonymous and credentials do not go together",
        )
        .context("field", "credentials")),
        (false, true) => Err(Error::invalid_argument(
            "storage.credentials are needed, or anonymous: true",
        )
        .context("field", "credentials")),
        (false, false) => Ok(Some(match given.dyn_ref::<Function>() {
            Some(function) => Arc::new(Provider::new(function)),
            None => Arc::new(StaticCredentialProvider::new(credential_of(&given)?)),
        })),
    }
}

/// A URI without its query, fragment and user name.
fn shown(uri: &str) -> String {
    let plain = uri.split(['?', '#']).next().unwrap_or_default();
    match plain.split_once("://") {
        Some((scheme, rest)) => {
            let host_end = rest.find('/').unwrap_or(rest.len());
            let (host, path) = rest.split_at_checked(host_end).unwrap_or((rest, ""));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        None => plain.to_owned(),
    }
}
