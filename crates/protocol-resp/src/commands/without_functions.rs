// SPDX-License-Identifier: Apache-2.0
//! Functions on a server that was built without Lua: an error for each command.

use super::scripts::NO_SCRIPTS;
use crate::engine::call::Call;
use crate::wire::fault::Done;
use keyspace::View;

/// Makes a function of each command.
macro_rules! refuse {
    ($($name:ident)+) => {
        $(
            pub(crate) fn $name<V: View>(_: &mut Call<'_, V>) -> Done {
                Err(NO_SCRIPTS)
            }
        )+
    };
}

refuse! { fcall fcall_ro load delete flush list dump restore stats kill }
