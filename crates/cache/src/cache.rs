// SPDX-License-Identifier: Apache-2.0
//! [`Cache`]: the operations, with the types of keys and values.

use crate::flight::Joined;
use crate::inner::Inner;
use crate::keeper::Keeper;
use crate::{Builder, Decode, Encode, Error, Statistics};
use std::borrow::Borrow;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A cache within this process: values under keys, within a limit of memory.
///
/// All threads use it at the same time through `&self`. A clone is another handle on the same cache, which ends with
/// its last clone. Keys and values are kept as bytes, so `K` and `V` say how they are [encoded](Encode); for text
/// and bytes they are the borrowed types, as in `Cache<str, [u8]>`.
///
/// ```
/// use cache::Cache;
/// use std::time::Duration;
///
/// let cache: Cache<str, u64> = Cache::builder().memory(8 << 20).build()?;
/// cache.insert("answer", &42)?;
/// cache.insert_with_ttl("soon gone", &1, Duration::from_secs(60))?;
/// std::thread::scope(|scope| {
///     scope.spawn(|| assert_eq!(cache.get("answer"), Some(42)));
///     scope.spawn(|| assert_eq!(cache.get("question"), None));
/// });
/// # Ok::<(), cache::Error>(())
/// ```
pub struct Cache<K: ?Sized = [u8], V: ?Sized = [u8]> {
    inner: Arc<Inner>,
    keeper: Option<Arc<Keeper>>,
    types: PhantomData<fn(&K, &V)>,
}

impl<K: ?Sized, V: ?Sized> Clone for Cache<K, V> {
    fn clone(&self) -> Self {
        Cache { inner: Arc::clone(&self.inner), keeper: self.keeper.clone(), types: PhantomData }
    }
}

impl<K: ?Sized, V: ?Sized> std::fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache").field("statistics", &self.statistics()).finish_non_exhaustive()
    }
}

impl<K: ?Sized, V: ?Sized> Cache<K, V> {
    /// Options for a new cache.
    pub fn builder() -> Builder<K, V> {
        Builder::new()
    }

    pub(crate) fn new(inner: Arc<Inner>, keeper: Option<Keeper>) -> Self {
        Cache { inner, keeper: keeper.map(Arc::new), types: PhantomData }
    }

    /// Removes all items. Computations in progress give their values to those that wait, and are not stored.
    pub fn clear(&self) {
        self.inner.clear();
    }

    /// What the cache holds and has done.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.inner.statistics()
    }

    /// Sets another limit of memory in bytes. A higher one takes effect at once. With a lower one the cache gives
    /// memory back in steps, of writes, of the thread in the background and of [`Cache::tend`].
    ///
    /// # Errors
    ///
    /// [`Error::LimitTooLow`] and [`Error::LimitTooHigh`], which say what is possible: from 8 MiB or four times the
    /// longest value, and up to 16 times the memory that the cache was built with.
    pub fn resize(&self, bytes: u64) -> Result<(), Error> {
        Ok(self.inner.resize(bytes)?)
    }

    /// Gives back the memory of all items that have expired, and reports them to the listener. The thread in the
    /// background does this every second; it is for tests with a clock of their own, and for caches without that
    /// thread.
    pub fn tend(&self) {
        self.inner.tend();
    }
}

impl<K: Encode + ?Sized, V: ?Sized> Cache<K, V> {
    /// Removes the item under a key. Returns whether there was one. A value of the key that is being computed is not
    /// stored: it may be of before whatever was changed.
    pub fn remove(&self, key: &K) -> bool {
        self.inner.remove(key.encode().as_ref())
    }

    /// Whether there is an item under a key. Does not count as a use of it.
    #[must_use]
    pub fn contains(&self, key: &K) -> bool {
        self.inner.has(key.encode().as_ref())
    }

    /// Shows the bytes of the value under a key to `show`, if there is one, and returns what it returns.
    ///
    /// Allocates nothing as a rule: a value of less than 16 KiB is copied to a buffer of the thread, and a longer one
    /// read where it lies. `show` may take its time and use the cache.
    ///
    /// ```
    /// use cache::Cache;
    ///
    /// let cache: Cache = Cache::builder().memory(1 << 20).build()?;
    /// cache.insert(b"key", b"some bytes")?;
    /// assert_eq!(cache.get_with(b"key", |bytes| bytes.len()), Some(10));
    /// # Ok::<(), cache::Error>(())
    /// ```
    pub fn get_with<R>(&self, key: &K, show: impl FnOnce(&[u8]) -> R) -> Option<R> {
        self.inner.read(key.encode().as_ref(), show)
    }
}

impl<K: Encode + ?Sized, V: Encode + ?Sized> Cache<K, V> {
    /// Writes a value under a key, in place of the one that is there. It lives as long as
    /// [`Builder::ttl`] says.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] and [`Error::NoRoom`]. What was there stays; [`Cache::remove`] it if it must not.
    pub fn insert(&self, key: &K, value: &V) -> Result<(), Error> {
        self.write(key, value, self.inner.ttl)
    }

    /// As [`Cache::insert`], for a value that is gone `ttl` from now.
    ///
    /// # Errors
    ///
    /// As [`Cache::insert`].
    pub fn insert_with_ttl(&self, key: &K, value: &V, ttl: Duration) -> Result<(), Error> {
        self.write(key, value, Some(ttl))
    }

    fn write(&self, key: &K, value: &V, ttl: Option<Duration>) -> Result<(), Error> {
        Ok(self.inner.write(key.encode().as_ref(), value.encode().as_ref(), ttl)?)
    }
}

impl<K: Encode + ?Sized, V: Decode + ?Sized> Cache<K, V> {
    /// The value under a key; `None` if there is none, or if its bytes are not one of this type.
    pub fn get(&self, key: &K) -> Option<V::Owned> {
        self.get_with(key, V::decode).flatten()
    }

    /// The value under a key. If there is none it is computed by `compute`, and stored.
    ///
    /// Only one thread at a time computes the value of a key; others that ask for it meanwhile wait and get the same.
    /// If the computation panics, one of those that wait computes in its place. A value that the cache does not take,
    /// as [`Cache::insert`] would say, is returned all the same.
    ///
    /// A write or a removal of the key meanwhile does not wait. What was computed is then not stored, because it may be
    /// of before that change; who asks after the change does not get it either.
    ///
    /// ```
    /// use cache::Cache;
    ///
    /// let cache: Cache<u64, str> = Cache::builder().memory(1 << 20).build()?;
    /// assert_eq!(cache.get_or_insert_with(&7, || "seven".to_owned()), "seven");
    /// assert_eq!(cache.get_or_insert_with(&7, || unreachable!("it is there")), "seven");
    /// # Ok::<(), cache::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// When `compute` asks for the value of the same key in the same way, on the same thread: it would wait for
    /// itself. Two computations on two threads that ask for each other's keys wait for ever; do not write such.
    pub fn get_or_insert_with(&self, key: &K, compute: impl FnOnce() -> V::Owned) -> V::Owned {
        let compute = || Ok::<_, Infallible>((compute(), self.inner.ttl));
        let Ok(value) = self.compute(key, compute);
        value
    }

    /// As [`Cache::get_or_insert_with`], for a value that `compute` gives a time to live.
    ///
    /// # Panics
    ///
    /// As [`Cache::get_or_insert_with`].
    pub fn get_or_insert_with_ttl(
        &self,
        key: &K,
        compute: impl FnOnce() -> (V::Owned, Duration),
    ) -> V::Owned {
        let compute = || {
            let (value, ttl) = compute();
            Ok::<_, Infallible>((value, Some(ttl)))
        };
        let Ok(value) = self.compute(key, compute);
        value
    }

    /// As [`Cache::get_or_insert_with`], for a computation that may fail. Nothing is stored then, and one of those
    /// that wait computes in its place: each caller has an error of its own computation.
    ///
    /// ```
    /// use cache::Cache;
    ///
    /// let cache: Cache<str, i32> = Cache::builder().memory(1 << 20).build()?;
    /// assert!(cache.try_get_or_insert_with("x", || "x".parse::<i32>()).is_err());
    /// assert_eq!(cache.try_get_or_insert_with("x", || "5".parse::<i32>()), Ok(5));
    /// assert_eq!(cache.get("x"), Some(5));
    /// # Ok::<(), cache::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// That of `compute`.
    ///
    /// # Panics
    ///
    /// As [`Cache::get_or_insert_with`].
    pub fn try_get_or_insert_with<E>(
        &self,
        key: &K,
        compute: impl FnOnce() -> Result<V::Owned, E>,
    ) -> Result<V::Owned, E> {
        self.compute(key, || Ok((compute()?, self.inner.ttl)))
    }

    /// As [`Cache::try_get_or_insert_with`], for a value that `compute` gives a time to live.
    ///
    /// # Errors
    ///
    /// That of `compute`.
    ///
    /// # Panics
    ///
    /// As [`Cache::get_or_insert_with`].
    pub fn try_get_or_insert_with_ttl<E>(
        &self,
        key: &K,
        compute: impl FnOnce() -> Result<(V::Owned, Duration), E>,
    ) -> Result<V::Owned, E> {
        self.compute(key, || compute().map(|(value, ttl)| (value, Some(ttl))))
    }

    fn compute<E>(
        &self,
        key: &K,
        compute: impl FnOnce() -> Result<(V::Owned, Option<Duration>), E>,
    ) -> Result<V::Owned, E> {
        let (inner, key) = (&*self.inner, key.encode());
        let key = key.as_ref();
        if let Some(value) = inner.read(key, V::decode).flatten() {
            return Ok(value);
        }
        let leader = loop {
            match inner.flights.join(key, || inner.count_wait()) {
                Joined::Leads(leader) => break leader,
                Joined::Shares(bytes) => {
                    if let Some(value) = V::decode(&bytes) {
                        return Ok(value);
                    }
                }
                Joined::Freed => {}
            }
        };
        // Another leader may have landed between the look and the start of this one.
        if let Some(bytes) = inner.look_again(key)
            && let Some(value) = V::decode(&bytes)
        {
            leader.finish(&bytes, || {});
            return Ok(value);
        }
        let (value, ttl) = compute()?;
        let encoded = Borrow::<V>::borrow(&value).encode();
        let mut is_stored = false;
        leader.finish(encoded.as_ref(), || {
            is_stored = inner.put(key, encoded.as_ref(), ttl).is_ok();
        });
        if !is_stored {
            inner.unstored.fetch_add(1, Ordering::Relaxed);
        }
        inner.tell_dropped();
        drop(encoded);
        Ok(value)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
